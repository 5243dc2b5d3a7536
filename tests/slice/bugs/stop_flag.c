/* stop_flag.c - a thread resets the flag that asks it to stop when it begins, after somebody has
 * asked.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct player {
    atomic_int stop;
    int volume;
    long frames;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

static void open_device(struct player *p)
{
    usleep(40000);
    for (int i = 0; i < 200; i++)
        p->volume = (p->volume * 5 + i) % 97;
}

static void *play(void *arg)
{
    struct player *p = arg;
    open_device(p);
#ifndef FIXED
    atomic_store(&p->stop, 0); /* ROOT CAUSE */
#endif
    pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->stop)) {
        p->frames++;
        pthread_cond_wait(&p->wake, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void start(struct player *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_create(&p->thread, NULL, play, p);
}

static void stop(struct player *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, 1);
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
}

int main(void)
{
    static struct player p;
    start(&p);
    usleep(10000);
    stop(&p);
    printf("%ld frames\n", p.frames);
    return 0;
}
