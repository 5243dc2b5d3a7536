/* stack_wrong_lock.c - push and pop have a lock each. SPDX-License-Identifier: MIT */
#include "subject.h"

static int slot[8], top = 2;
static pthread_mutex_t pushing = MUTEX BUG(, popping = MUTEX);
#ifdef FIXED
#define popping pushing
#endif

static void *push(void *arg)
{
    LOCK(pushing);
    int t = GET(top);
    slot[t] = 1;
    SET(top, t + 1);
    UNLOCK(pushing);
    return arg;
}

static void *pop(void *arg)
{
    LOCK(popping); /* ROOT CAUSE */
    int t = GET(top);
    slot[t - 1] = 0;
    SET(top, t - 1);
    UNLOCK(popping);
    return arg;
}

int main(void)
{
    RUN(2, push, pop);
    CHECK(top == 2);
    return 0;
}
