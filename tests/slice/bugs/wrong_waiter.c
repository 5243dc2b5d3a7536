/* wrong_waiter.c - readers and writers of a small buffer wait at one condition, and a signal wakes
 * one who can do nothing with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEMS = 400, READERS = 3, WRITERS = 3 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int item, full;
    int taken;
} box = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void tell(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&box.changed);
#else
    pthread_cond_signal(&box.changed); /* ROOT CAUSE */
#endif
}

static void put(int item)
{
    pthread_mutex_lock(&box.lock);
    while (box.full)
        pthread_cond_wait(&box.changed, &box.lock);
    box.item = item;
    box.full = 1;
    tell(); /* ROOT CAUSE */
    pthread_mutex_unlock(&box.lock);
}

static int get(void)
{
    pthread_mutex_lock(&box.lock);
    while (!box.full)
        pthread_cond_wait(&box.changed, &box.lock);
    int item = box.item;
    box.full = 0;
    box.taken++;
    tell(); /* ROOT CAUSE */
    pthread_mutex_unlock(&box.lock);
    return item;
}

static void *write_items(void *arg)
{
    for (int i = 0; i < ITEMS; i++)
        put(i);
    return arg;
}

static void *read_items(void *arg)
{
    long *sum = arg;
    for (int i = 0; i < ITEMS * WRITERS / READERS; i++)
        *sum += get();
    return NULL;
}

int main(void)
{
    pthread_t t[READERS + WRITERS];
    long sum[READERS] = {0}, all = 0;
    for (int i = 0; i < READERS; i++)
        pthread_create(&t[i], NULL, read_items, &sum[i]);
    usleep(20000); /* all of them wait */
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&t[READERS + i], NULL, write_items, NULL);
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < READERS; i++)
        all += sum[i];
    printf("%ld\n", all);
    return 0;
}
