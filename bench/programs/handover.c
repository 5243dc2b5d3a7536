/* handover.c - producer and consumer that take turns through a condition variable.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>

enum { HANDOVERS = 500000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;
static long slot;

/* Waits for the slot to be full or empty, then turns it over: one hand-over. */
static void turn(int wanted, long *value)
{
    pthread_mutex_lock(&lock);
    while (full != wanted)
        pthread_cond_wait(&changed, &lock);
    if (wanted)
        *value = slot;
    else
        slot = *value;
    full = !wanted;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *produce(void *unused)
{
    for (long i = 0; i < HANDOVERS / 2; i++)
        turn(0, &i);
    return unused;
}

int main(void)
{
    pthread_t producer;
    long value, sum = 0;

    if (pthread_create(&producer, NULL, produce, NULL))
        return 1;
    for (long i = 0; i < HANDOVERS / 2; i++) {
        turn(1, &value);
        sum += value ^ i;
        sum += value;
    }
    pthread_join(producer, NULL);
    printf("%ld\n", sum);
    return 0;
}
