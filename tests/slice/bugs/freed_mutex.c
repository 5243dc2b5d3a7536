/* freed_mutex.c - main gives the queue's mutex back while a consumer still wants it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t *mutex;
    int left, taken[8];
};

static struct queue *fifo;
static sem_t empty, gone;
static long noise;

static struct queue *queue_new(int left)
{
    struct queue *q = calloc(1, sizeof *q);
    q->mutex = malloc(sizeof *q->mutex);
    pthread_mutex_init(q->mutex, NULL);
    q->left = left;
    return q;
}

static void queue_delete(struct queue *q)
{
    pthread_mutex_destroy(q->mutex);
    free(q->mutex);
    q->mutex = NULL; /* ROOT CAUSE */
}

static void *consumer(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(fifo->mutex);
        fifo->taken[i] = fifo->left--;
        pthread_mutex_unlock(fifo->mutex);
    }
    sem_post(&empty);
    sem_wait(&gone);
    pthread_mutex_lock(fifo->mutex); /* CRASH */
    return arg;
}

int main(void)
{
    pthread_t id;
    sem_init(&empty, 0, 0);
    sem_init(&gone, 0, 0);
    fifo = queue_new(4);
    pthread_create(&id, NULL, consumer, NULL);
    sem_wait(&empty);
    for (int i = 0; i < 100; i++)
        noise += i * i; /* UNRELATED */
    queue_delete(fifo);
    sem_post(&gone);
    pthread_join(id, NULL);
    return (int)noise;
}
