/* three_way.c - three threads, three locks, a circle; a fourth one runs on.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static pthread_mutex_t m[3] = {MUTEX, MUTEX, MUTEX};
static int other;

static void *hold(void *arg)
{
    int i = (int)(long)arg;
    int first = i, then = (i + 1) % 3;
    FIX(if (i == 2) {
        first = 0;
        then = 2;
    })
    LOCK(m[first]);
    LOCK(m[then]); /* ROOT CAUSE */
    UNLOCK(m[then]);
    UNLOCK(m[first]);
    return arg;
}

static void *bystander(void *arg)
{
    for (int i = 0; i < 5; i++)
        SET(other, GET(other) + 1);
    return arg;
}

int main(void)
{
    RUN(4, hold, hold, hold, bystander);
    return 0;
}
