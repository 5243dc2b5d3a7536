/* queue_wrong_lock.c - the number of elements is changed under the lock of either end.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int item[16], head, tail = 2, count = 2;
static pthread_mutex_t at_head = MUTEX, at_tail = MUTEX, counts = MUTEX;

static void *put(void *arg)
{
    LOCK(at_tail);
    item[tail++] = 1;
    FIX(LOCK(counts);)
    int n = GET(count);
    SET(count, n + 1); /* ROOT CAUSE */
    FIX(UNLOCK(counts);)
    UNLOCK(at_tail);
    return arg;
}

static void *take(void *arg)
{
    (void)counts;
    LOCK(at_head);
    head++;
    FIX(LOCK(counts);)
    int n = GET(count);
    SET(count, n - 1);
    FIX(UNLOCK(counts);)
    UNLOCK(at_head);
    return arg;
}

int main(void)
{
    RUN(2, put, take);
    CHECK(count == tail - head);
    return 0;
}
