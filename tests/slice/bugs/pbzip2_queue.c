/* pbzip2_queue.c - main tears the queue down while a consumer is on its way back to it.
 *
 * SPDX-License-Identifier: MIT
 *
 * After pbzip2 0.9.4: main waited until the output was written, deleted the queue with its mutex,
 * and did not wait for the consumers, which still lock that mutex to find out that there is nothing
 * left.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 6

struct queue {
    int block[BLOCKS], head, tail, done;
    pthread_mutex_t *mut;
};

static struct queue *fifo;
static unsigned sums[BLOCKS];
static int written;

static struct queue *queue_new(void)
{
    struct queue *q = calloc(1, sizeof *q);
    q->mut = malloc(sizeof *q->mut);
    pthread_mutex_init(q->mut, NULL);
    return q;
}

static void queue_delete(struct queue *q)
{
    pthread_mutex_destroy(q->mut);
    free(q->mut);
    q->mut = NULL;
    free(q);
}

static int take(struct queue *q, int *block)
{
    int got = 0;
    pthread_mutex_lock(q->mut);
    if (q->head < q->tail) {
        *block = q->block[q->head++];
        got = 1;
    }
    pthread_mutex_unlock(q->mut);
    return got;
}

static unsigned compress(int block)
{
    unsigned sum = (unsigned)block + 1;
    for (int i = 0; i < 300; i++)
        sum = (sum << 5 | sum >> 27) ^ (unsigned)i * 2654435761u;
    return sum;
}

static void *consumer(void *arg)
{
    int block;
    while (take(arg, &block)) {
        sums[block] = compress(block);
        __atomic_add_fetch(&written, 1, __ATOMIC_RELEASE);
        usleep(block == BLOCKS - 1 ? 80000 : 100);
    }
    return NULL;
}

static char *trailer(void)
{
    char *text = malloc(sizeof *fifo);
    memset(text, 0x5a, sizeof *fifo);
    for (int i = 0; i < BLOCKS; i++)
        snprintf(text + 9 * i % 40, 10, "%08x", sums[i]);
    return text;
}

int main(void)
{
    pthread_t thread;
    fifo = queue_new();
    for (int i = 0; i < BLOCKS; i++)
        fifo->block[fifo->tail++] = i;
    pthread_create(&thread, NULL, consumer, fifo);
    while (__atomic_load_n(&written, __ATOMIC_ACQUIRE) < BLOCKS)
        usleep(1000);
#ifdef FIXED
    pthread_join(thread, NULL);
    queue_delete(fifo);
#else
    queue_delete(fifo); /* ROOT CAUSE */
#endif
    char *text = trailer();
    puts(text);
#ifndef FIXED
    pthread_join(thread, NULL);
#endif
    free(text);
    return 0;
}
