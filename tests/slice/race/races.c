/* races.c - values that threads hand over as they like. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "cases.h"

enum { TIMES = 20 };

static int total, shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static struct config {
    int size;
} config, *instance;
static char text[64], copy[64];

static int two(void *(*a)(void *), void *(*b)(void *))
{
    pthread_t one, next;
    void *x, *y;
    pthread_create(&one, NULL, a, &total);
    pthread_create(&next, NULL, b, &total);
    pthread_join(one, &x);
    pthread_join(next, &y);
    return (int)((long)x + (long)y);
}

static void *add(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        int before = *(volatile int *)&total;
        *(volatile int *)&total = before + 3;
        sched_yield();
    }
    return arg ? NULL : arg;
}

static int counter(void) /* MARKS total: race BARE total: race? */
{
    two(add, add);
    return total;
}

static void *add_in_place(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        __asm__ volatile("addl $3, %0" : "+m"(total));
        sched_yield();
    }
    return arg ? NULL : arg;
}

/* No compiler makes this of an atomic. */
static int in_place(void) /* MARKS total: race */
{
    two(add_in_place, add_in_place);
    return total;
}

static void *write_locked(void *arg)
{
    pthread_mutex_lock(&mutex);
    shared = 7;
    pthread_mutex_unlock(&mutex);
    return arg ? NULL : arg;
}

static void *read_unlocked(void *arg)
{
    long got = 0;
    while (!got) {
        got = *(volatile int *)&shared;
        sched_yield();
    }
    return arg ? (void *)got : arg;
}

static int one_side(void) /* MARKS shared: race BARE shared: race? */
{
    return two(write_locked, read_unlocked);
}

static void *read_with_other(void *arg)
{
    long got = 0;
    while (!got) {
        pthread_mutex_lock(&other);
        got = *(volatile int *)&shared;
        pthread_mutex_unlock(&other);
        sched_yield();
    }
    return arg ? (void *)got : arg;
}

static int two_locks(void) /* MARKS shared: race BARE shared: race? */
{
    return two(write_locked, read_with_other);
}

static struct config *get(void)
{
    if (!*(struct config *volatile *)&instance) {
        pthread_mutex_lock(&mutex);
        if (!instance) {
            config.size = 12;
            instance = &config;
        }
        pthread_mutex_unlock(&mutex);
    }
    return *(struct config *volatile *)&instance;
}

static void *use(void *arg)
{
    long got = *(volatile int *)&get()->size;
    return arg ? (void *)got : arg;
}

static void *use_later(void *arg)
{
    while (!*(struct config *volatile *)&instance)
        sched_yield();
    return use(arg);
}

static int
checked(void) /* MARKS instance: race, config: race BARE instance: race?, config: race? */
{
    return two(use, use_later);
}

static void *fill(void *arg)
{
    memset(text, 'x', sizeof text - 1);
    return arg ? NULL : arg;
}

static void *look(void *arg)
{
    while (!*(volatile char *)&text[sizeof text - 2])
        sched_yield();
    memcpy(copy, text, sizeof text);
    return arg ? (void *)(long)copy[5] : arg;
}

/* By functions of the C library. */
static int string(void) /* MARKS text: race */
{
    return two(fill, look);
}

static void *write_late(void *arg)
{
    *(volatile int *)&shared = 9;
    return arg ? NULL : arg;
}

static void *read_late(void *arg)
{
    long got = *(volatile int *)&shared;
    return arg ? (void *)got : arg;
}

/* Between them there is a thread that has waited, and knows nothing. */
static int one_by_one(void) /* MARKS shared: race BARE shared: race? */
{
    pthread_t one, next;
    void *x;
    pthread_create(&one, NULL, write_late, &total);
    while (!*(volatile int *)&shared)
        sched_yield();
    usleep(20000); /* it has ended, too */
    pthread_create(&next, NULL, read_late, &total);
    pthread_join(next, &x);
    pthread_join(one, NULL);
    return (int)(long)x;
}

static volatile int holds;

static void *hold(void *arg)
{
    pthread_mutex_lock(&mutex);
    holds = 1;
    while (!*(volatile int *)&shared)
        sched_yield();
    usleep(10000);
    pthread_mutex_unlock(&mutex);
    long got = *(volatile int *)&shared;
    return arg ? (void *)got : arg;
}

static void *want(void *arg)
{
    while (!holds)
        sched_yield();
    *(volatile int *)&shared = 13;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return arg ? NULL : arg;
}

/* That somebody waits for the lock tells nothing to who gives it back. */
static int contended(void) /* MARKS shared: race BARE shared: race? */
{
    return two(hold, want);
}

int main(int argc, char *argv[])
{
    static const struct one_case list[] = {
        {"one_by_one", one_by_one}, {"contended", contended}, {"counter", counter},
        {"in_place", in_place},     {"one_side", one_side},   {"two_locks", two_locks},
        {"string", string},         {"checked", checked},     {NULL, NULL}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
