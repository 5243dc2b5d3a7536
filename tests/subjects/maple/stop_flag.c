/* stop_flag.c - a driver: a request looks at the stop flag before it counts itself in.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int stopping, stopped, pending = 1;
static pthread_mutex_t m = MUTEX;

static int decrement(void)
{
    LOCK(m);
    int left = --pending;
    UNLOCK(m);
    return left;
}

static void *request(void *arg)
{
    FIX(LOCK(m);)
    if (GET(stopping)) { /* ROOT CAUSE */
        FIX(UNLOCK(m);)
        return arg;
    }
    BUG(LOCK(m);)
    pending++;
    UNLOCK(m);
    CHECK(!GET(stopped));
    if (!decrement())
        SET(stopped, 1);
    return arg;
}

static void *stop(void *arg)
{
    FIX(LOCK(m);)
    SET(stopping, 1);
    FIX(UNLOCK(m);)
    if (!decrement())
        SET(stopped, 1);
    return arg;
}

int main(void)
{
    RUN(2, request, stop);
    return 0;
}
