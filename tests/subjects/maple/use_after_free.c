/* use_after_free.c - the owner frees a queue that a consumer is done with, almost: it still
 * unlocks. SPDX-License-Identifier: MIT */
#include "subject.h"

struct queue {
    unsigned magic;
    int items;
    int done;
};
static struct queue *queue;

static void *consume(void *arg)
{
    struct queue *q = GET(queue);
    SET(q->items, 0);
    FIX(unsigned magic = GET(q->magic);)
    SET(q->done, 1); /* ROOT CAUSE */
    BUG(unsigned magic = GET(q->magic);)
    CHECK(magic == 0xfeed);
    return arg;
}

int main(void)
{
    pthread_t t;
    struct queue *q = malloc(sizeof *q);
    *q = (struct queue){.magic = 0xfeed, .items = 1};
    SET(queue, q);
    pthread_create(&t, NULL, consume, NULL);
    if (GET(q->done)) {
        SET(q->magic, 0);
        free(q);
        q = NULL;
    }
    pthread_join(t, NULL);
    free(q);
    return 0;
}
