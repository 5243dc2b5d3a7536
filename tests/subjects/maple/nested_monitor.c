/* nested_monitor.c - who waits for the inner lock's condition keeps the outer lock, which the one
 * who could wake him needs. SPDX-License-Identifier: MIT */
#include "subject.h"

static int ready;
static pthread_mutex_t outer = MUTEX, inner = MUTEX;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;

static void *make(void *arg)
{
    LOCK(outer); /* ROOT CAUSE */
    LOCK(inner);
    ready = 1;
    pthread_cond_signal(&made);
    UNLOCK(inner);
    UNLOCK(outer);
    return arg;
}

static void *use(void *arg)
{
    BUG(LOCK(outer);) /* ROOT CAUSE */
    LOCK(inner);
    while (!ready)
        pthread_cond_wait(&made, &inner); /* ROOT CAUSE */
    UNLOCK(inner);
    BUG(UNLOCK(outer);)
    return arg;
}

int main(void)
{
    RUN(2, make, use);
    return 0;
}
