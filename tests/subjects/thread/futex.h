/* futex.h - the futex call for the subjects of this folder. */
#ifndef THREAD_FUTEX_H
#define THREAD_FUTEX_H
#include "subject.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>

/* The result, or the negative error. The fourth argument is a time or a count. */
static UNUSED long futex(void *word, int op, int value, const void *time, void *word2, int value3)
{
    long r = syscall(SYS_futex, word, op, value, time, word2, value3);
    return r < 0 ? -errno : r;
}

#define COUNT(n) ((void *)(long)(n))
#define PRIVATE  FUTEX_PRIVATE_FLAG

/* A requeue onto the same word counts the waiters and changes nothing. */
static UNUSED long waiters(void *word)
{
    return futex(word, FUTEX_REQUEUE | PRIVATE, 0, COUNT(INT_MAX), word, 0);
}

static UNUSED void await_waiters(void *word, long n)
{
    while (waiters(word) != n)
        usleep(200);
}

static UNUSED double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The time of a clock in so many milliseconds. */
static UNUSED struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    ts.tv_nsec += ms % 1000 * 1000000;
    ts.tv_sec += ms / 1000 + ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}
#endif
