/* atomic.c - two lines that were meant to be one: another thread writes x between them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static int x = 1, y, z;
static sem_t half, written;

static void *writer(void *arg)
{
    y = z + 2;
    sem_wait(&half);
    x = y + 5; /* ROOT CAUSE */
    sem_post(&written);
    return arg;
}

static void *reader(void *arg)
{
    int k = 0, before = x;
    sem_post(&half);
    sem_wait(&written);
    k = y + x;               /* CRITERION */
    assert(k == y + before); /* FAILS */
    return arg;
}

int main(void)
{
    pthread_t one, two;
    sem_init(&half, 0, 0);
    sem_init(&written, 0, 0);
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
