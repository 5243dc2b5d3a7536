/* abba.c - two locks in two orders, and nothing in between. SPDX-License-Identifier: MIT */
#include "subject.h"

static pthread_mutex_t a = MUTEX, b = MUTEX;

static void *one(void *arg)
{
    LOCK(a);
    LOCK(b);
    UNLOCK(b);
    UNLOCK(a);
    return arg;
}

static void *other(void *arg)
{
    BUG(LOCK(b);)
    LOCK(a); /* ROOT CAUSE */
    FIX(LOCK(b);)
    UNLOCK(a);
    UNLOCK(b);
    return arg;
}

int main(void)
{
    RUN(2, one, other);
    return 0;
}
