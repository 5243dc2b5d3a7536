/* ahead.c - chunks are unpacked before they are asked for. SPDX-License-Identifier: MIT */
#include "trace/ahead.h"

#include <pthread.h>
#include <stdlib.h>

enum state { IDLE, WANTED, READY, QUIT };

struct trace_ahead {
    trace_ahead_read *read;
    void *arg;
    uint32_t chunks;
    uint32_t last, before; /* that were asked for, plus one; 0: none */
    bool running, never;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    uint32_t number; /* that is wanted or ready */
    struct trace_chunk chunk;
    struct err err;
    int result;
};

static void *work(void *arg)
{
    struct trace_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (a->state != QUIT) {
        if (a->state != WANTED) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        uint32_t n = a->number;
        pthread_mutex_unlock(&a->lock);
        int result = a->read(a->arg, n, &a->chunk, &a->err);
        pthread_mutex_lock(&a->lock);
        a->result = result;
        if (a->state == WANTED)
            a->state = READY;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct trace_ahead *trace_ahead_new(trace_ahead_read *read, void *arg, uint32_t chunks)
{
    struct trace_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->read = read;
    a->arg = arg;
    a->chunks = chunks;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    return a;
}

void trace_ahead_free(struct trace_ahead *a)
{
    if (!a)
        return;
    if (a->running) {
        pthread_mutex_lock(&a->lock);
        a->state = QUIT;
        pthread_cond_broadcast(&a->changed);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
    }
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    trace_chunk_deinit(&a->chunk);
    free(a);
}

/* What is asked for after n, if it goes on like this; `chunks`: nobody knows. */
static uint32_t guess(const struct trace_ahead *a, uint32_t n)
{
    if (a->before && a->last == a->before + 1 && n == a->last)
        return n + 1;
    if (a->last && a->before == a->last + 1 && n + 2 == a->last && n)
        return n - 1;
    return a->chunks;
}

static void start(struct trace_ahead *a, uint32_t next)
{
    if (!a->running && !a->never) {
        a->running = !pthread_create(&a->thread, NULL, work, a);
        a->never = !a->running;
    }
    if (!a->running)
        return;
    pthread_mutex_lock(&a->lock);
    a->number = next;
    a->state = WANTED;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

int trace_ahead_take(struct trace_ahead *a, uint32_t n, struct trace_chunk *out, struct err *err)
{
    int taken = 0;
    if (a->running) {
        pthread_mutex_lock(&a->lock);
        while (a->state == WANTED)
            pthread_cond_wait(&a->changed, &a->lock);
        if (a->state == READY && a->number == n) {
            taken = a->result ? -1 : 1;
            if (a->result)
                *err = a->err;
            struct trace_chunk spare = *out;
            *out = a->chunk;
            a->chunk = spare;
        }
        a->state = IDLE;
        pthread_mutex_unlock(&a->lock);
    }
    uint32_t next = guess(a, n);
    a->before = a->last;
    a->last = n + 1;
    if (next < a->chunks)
        start(a, next);
    return taken;
}
