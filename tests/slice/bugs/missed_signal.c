/* missed_signal.c - the worker signals that it is ready before anybody waits, and nobody asks
 * whether it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct service {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    int is_ready, table[64];
};

static void load(struct service *s)
{
    for (int i = 0; i < 64; i++)
        s->table[i] = (i * 37) % 101;
}

static void *worker(void *arg)
{
    struct service *s = arg;
    load(s);
    pthread_mutex_lock(&s->lock);
    s->is_ready = 1;
    pthread_cond_signal(&s->ready);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static long read_settings(void)
{
    long sum = 0;
    for (int i = 0; i < 500; i++)
        sum += i % 13;
    usleep(50000);
    return sum;
}

static void wait_until_ready(struct service *s)
{
    pthread_mutex_lock(&s->lock);
#ifdef FIXED
    while (!s->is_ready)
        pthread_cond_wait(&s->ready, &s->lock);
#else
    pthread_cond_wait(&s->ready, &s->lock); /* ROOT CAUSE */
#endif
    pthread_mutex_unlock(&s->lock);
}

int main(void)
{
    static struct service s = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .ready = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &s);
    long settings = read_settings();
    wait_until_ready(&s);
    pthread_join(thread, NULL);
    printf("%ld %d\n", settings, s.table[settings % 64]);
    return 0;
}
