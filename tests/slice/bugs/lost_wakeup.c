/* lost_wakeup.c - two orders are put into the queue at once, and one of the two cooks that wait is
 * woken.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM 8

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int count, order[ROOM];
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
static long cooked;

static void put_all(struct queue *q, const int *order, int count)
{
    pthread_mutex_lock(&q->lock);
    for (int i = 0; i < count; i++)
        q->order[q->count++] = order[i];
#ifdef FIXED
    pthread_cond_broadcast(&q->filled);
#else
    pthread_cond_signal(&q->filled); /* ROOT CAUSE */
#endif
    pthread_mutex_unlock(&q->lock);
}

static int get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->count)
        pthread_cond_wait(&q->filled, &q->lock);
    int order = q->order[--q->count];
    pthread_mutex_unlock(&q->lock);
    return order;
}

static long prepare(int order)
{
    long sum = order;
    for (int i = 0; i < 200; i++)
        sum = sum * 7 % 1000003;
    return sum;
}

static void *cook(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        long sum = prepare(get(&queue));
        __atomic_add_fetch(&cooked, sum, __ATOMIC_RELAXED);
    }
    return NULL;
}

static int read_orders(const char *text, int *order)
{
    int count = 0;
    char *end;
    for (long n = strtol(text, &end, 10); end != text; text = end, n = strtol(text, &end, 10))
        order[count++] = (int)n;
    return count;
}

int main(void)
{
    static const char *const guests[] = {"12", "7", "31 9"};
    int two = 2, order[ROOM];
    pthread_t cooks[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&cooks[i], NULL, cook, &two);
    for (int i = 0; i < 3; i++) {
        usleep(20000);
        put_all(&queue, order, read_orders(guests[i], order));
    }
    for (int i = 0; i < 2; i++)
        pthread_join(cooks[i], NULL);
    printf("%ld\n", cooked);
    return 0;
}
