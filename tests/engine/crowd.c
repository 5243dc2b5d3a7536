/* crowd.c - eight threads with a lock, a barrier and work of their own; the output is always the
 * same. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, WORK = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static uint64_t shared;
static int rounds;

static int descending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

static void *work(void *arg)
{
    uint32_t seed = (uint32_t)(uintptr_t)arg, number[WORK];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WORK; i++)
            number[i] = seed = seed * 1664525 + 1013904223;
        qsort(number, WORK, sizeof *number, descending);
        pthread_mutex_lock(&lock);
        shared += number[WORK / 3];
        pthread_mutex_unlock(&lock);
        if (round % 4 == 0)
            pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char *argv[])
{
    pthread_t thread[THREADS];
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%llu\n", (unsigned long long)shared);
    return 0;
}
