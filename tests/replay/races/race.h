/* race.h - what the racy programs share. They print their result and end by it: a replay that takes
 * the threads' turns otherwise shows. */
#ifndef RACE_H
#define RACE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define say(...) dprintf(STDOUT_FILENO, __VA_ARGS__)

static __attribute__((unused)) pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg) != 0)
        abort();
    return t;
}

/* Work that takes a while and that no compiler removes. */
static __attribute__((unused)) void work(int n)
{
    for (volatile int i = 0; i < n; i++)
        ;
}
#endif
