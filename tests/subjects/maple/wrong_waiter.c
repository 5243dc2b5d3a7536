/* wrong_waiter.c - those who bring and those who fetch wait for one condition, and only one is
 * woken: it may be one of the wrong kind. SPDX-License-Identifier: MIT */
#include "subject.h"

static int full;
static pthread_mutex_t m = MUTEX;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wake(void)
{
    BUG(pthread_cond_signal(&changed);) /* ROOT CAUSE */
    FIX(pthread_cond_broadcast(&changed);)
}

static void *bring(void *arg)
{
    LOCK(m);
    while (full)
        pthread_cond_wait(&changed, &m); /* ROOT CAUSE */
    full = 1;
    wake();
    UNLOCK(m);
    return arg;
}

static void *fetch(void *arg)
{
    LOCK(m);
    while (!full)
        pthread_cond_wait(&changed, &m); /* ROOT CAUSE */
    full = 0;
    wake();
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(4, bring, fetch, bring, fetch);
    return 0;
}
