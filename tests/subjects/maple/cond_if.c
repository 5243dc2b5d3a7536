/* cond_if.c - two takers wait with "if", not "while": after a broadcast the second one takes from
 * an empty shelf. SPDX-License-Identifier: MIT */
#include "subject.h"

static int shelf;
static pthread_mutex_t m = MUTEX;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;

static void *put(void *arg)
{
    for (int i = 0; i < 2; i++) {
        LOCK(m);
        shelf++;
        pthread_cond_broadcast(&some);
        UNLOCK(m);
    }
    return arg;
}

static void *take(void *arg)
{
    LOCK(m);
    BUG(if) FIX(while)(shelf == 0) pthread_cond_wait(&some, &m);
    shelf--; /* ROOT CAUSE */
    CHECK(shelf >= 0);
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(3, put, take, take);
    return 0;
}
