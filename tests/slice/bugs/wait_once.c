/* wait_once.c - a consumer looks only once whether there is something, and another one was faster.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 40, ROOM = 64 };

static struct {
    int job[ROOM];
    int first, last;
    int closed;
    pthread_mutex_t lock;
    pthread_cond_t more;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static long sums[3];

static int take(void)
{
    int job = -1;
    pthread_mutex_lock(&queue.lock);
#ifdef FIXED
    while (queue.first == queue.last && !queue.closed)
#else
    if (queue.first == queue.last && !queue.closed) /* ROOT CAUSE */
#endif
        pthread_cond_wait(&queue.more, &queue.lock); /* ROOT CAUSE */
    if (!queue.closed || queue.first < queue.last)
        job = queue.job[queue.first++ % ROOM];
    pthread_mutex_unlock(&queue.lock);
    return job;
}

static void put(int job)
{
    pthread_mutex_lock(&queue.lock);
    queue.job[queue.last++ % ROOM] = job;
    pthread_cond_broadcast(&queue.more);
    pthread_mutex_unlock(&queue.lock);
}

static void *consume(void *arg)
{
    long *sum = arg;
    for (int job; (job = take()) > 0;)
        *sum += job;
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    long want = 0, total = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, consume, &sums[i]);
    for (int i = 1; i <= JOBS; i++) {
        put(i);
        if (i % 8 == 0)
            usleep(2000); /* all of them wait */
        want += i;
    }
    pthread_mutex_lock(&queue.lock);
    queue.closed = 1;
    pthread_cond_broadcast(&queue.more);
    pthread_mutex_unlock(&queue.lock);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
        total += sums[i];
    }
    printf("%ld of %ld\n", total, want);
    assert(total == want && queue.first == queue.last);
    return 0;
}
