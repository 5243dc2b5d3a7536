/* mutex.c - N threads on one mutex, the same work in all for every N.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 1 << 22, MOST = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static long shared;
static long turns; /* of each thread */

static void *work(void *unused)
{
    pthread_barrier_wait(&start);
    for (long i = 0; i < turns; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char *argv[])
{
    pthread_t thread[MOST];
    int n = argc > 1 ? atoi(argv[1]) : 0;

    if (n < 1 || n > MOST)
        return 2;
    turns = TURNS / n;
    pthread_barrier_init(&start, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, NULL))
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    printf("%ld\n", shared);
    return 0;
}
