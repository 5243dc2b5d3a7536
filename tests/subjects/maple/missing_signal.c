/* missing_signal.c - whoever puts something wakes a taker only if there was nothing: the second
 * taker may sleep for ever. SPDX-License-Identifier: MIT */
#include "subject.h"

static int count;
static pthread_mutex_t m = MUTEX;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;

static void *put(void *arg)
{
    for (int i = 0; i < 2; i++) {
        LOCK(m);
        count++;
        if (BUG(count == 1) FIX(1)) /* ROOT CAUSE */
            pthread_cond_signal(&some);
        UNLOCK(m);
    }
    return arg;
}

static void *take(void *arg)
{
    LOCK(m);
    while (!count)
        pthread_cond_wait(&some, &m);
    count--;
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(3, put, take, take);
    return 0;
}
