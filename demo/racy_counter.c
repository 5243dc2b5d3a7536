/* racy_counter.c - threads count visitors together, and now and then lose some.
 *
 * SPDX-License-Identifier: MIT
 *
 * usage: racy_counter [THREADS [VISITORS]]
 *
 * Each thread lets its visitors in one by one and counts them in one total, without a lock. A
 * thread that is interrupted while it greets a visitor writes an old number back later, over
 * whatever the others have counted in the meantime. Most runs on an idle machine may well be right.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 };

static long total;
static long visitors = 5000;

static void greet(long number)
{
    for (long i = 0; i < 100 + number % 7; i++)
        ;
}

static void *door(void *arg)
{
    for (long i = 0; i < visitors; i++) {
        long seen = total;
        greet(i);
        total = seen + 1; /* ROOT CAUSE: total may have changed since it was seen */
    }
    return arg;
}

int main(int argc, char *argv[])
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t ids[MAX_THREADS];

    if (argc > 2)
        visitors = atol(argv[2]);
    if (threads < 1 || threads > MAX_THREADS || visitors < 0) {
        fprintf(stderr, "usage: racy_counter [THREADS [VISITORS]]\n");
        return 2;
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, door, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("counted %ld of %ld visitors\n", total, threads * visitors);
    fflush(stdout);
    assert(total == threads * visitors);
    return 0;
}
