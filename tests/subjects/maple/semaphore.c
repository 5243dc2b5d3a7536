/* semaphore.c - a ring with two semaphores; the maker says that an item is there before it is.
 * SPDX-License-Identifier: MIT */
#include <semaphore.h>

#include "subject.h"

enum { SLOTS = 2, ITEMS = 4 };
static int slot[SLOTS];
static sem_t full, empty;

static void *make(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&empty);
        BUG(sem_post(&full);)
        SET(slot[i % SLOTS], i + 1); /* ROOT CAUSE */
        FIX(sem_post(&full);)
    }
    return arg;
}

static void *use(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&full);
        int item = GET(slot[i % SLOTS]);
        sem_post(&empty);
        CHECK(item == i + 1);
    }
    return arg;
}

int main(void)
{
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, SLOTS);
    RUN(2, make, use);
    return 0;
}
