/* pop_empty.c - a stack is asked under its lock whether it has something, and popped under the
 * lock later. SPDX-License-Identifier: MIT */
#include "subject.h"

static int count = 1;
static pthread_mutex_t m = MUTEX;

static int has_some(void)
{
    LOCK(m);
    const int some = count > 0;
    UNLOCK(m);
    return some;
}

static void *pop(void *arg)
{
    if (!has_some())
        return arg;
    LOCK(m);
    if (FIX(count > 0) BUG(1))
        count--; /* ROOT CAUSE */
    CHECK(count >= 0);
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(2, pop);
    return 0;
}
