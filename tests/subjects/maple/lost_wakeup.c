/* lost_wakeup.c - the flag is looked at before the lock is taken: the signal may come in between.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int ready;
static pthread_mutex_t m = MUTEX;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *wait_for(void *arg)
{
    BUG(int seen = GET(ready);) /* ROOT CAUSE */
    LOCK(m);
    FIX(int seen = GET(ready);)
    if (!seen)
        pthread_cond_wait(&c, &m);
    UNLOCK(m);
    return arg;
}

static void *tell(void *arg)
{
    LOCK(m);
    SET(ready, 1);
    pthread_cond_signal(&c);
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(2, wait_for, tell);
    return 0;
}
