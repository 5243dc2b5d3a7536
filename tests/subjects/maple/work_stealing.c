/* work_stealing.c - a queue of work; the owner takes from its end, a thief from its begin. The
 * owner looks at the begin before it moves the end. SPDX-License-Identifier: MIT */
#include "subject.h"

enum { WORK = 3 };
static int begin, end = WORK, done[WORK];
static pthread_mutex_t m = MUTEX;

static void perform(int i)
{
    CHECK(__atomic_fetch_add(&done[i], 1, __ATOMIC_RELAXED) == 0);
}

static void *own(void *arg)
{
    for (;;) {
        FIX(LOCK(m);)
        int b = GET(begin), e = GET(end) - 1; /* ROOT CAUSE */
        if (b > e) {
            FIX(UNLOCK(m);)
            return arg;
        }
        SET(end, e);
        FIX(UNLOCK(m);)
        perform(e);
    }
}

static void *steal(void *arg)
{
    LOCK(m);
    int b = GET(begin);
    if (b < GET(end)) {
        SET(begin, b + 1);
        UNLOCK(m);
        perform(b);
        return arg;
    }
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(3, own, steal, steal);
    return 0;
}
