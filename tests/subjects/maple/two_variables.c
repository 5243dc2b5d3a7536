/* two_variables.c - a sum of two variables is kept, but not in one step.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int left = 50, right = 50;
static pthread_mutex_t m = MUTEX;

static void *move(void *arg)
{
    LOCK(m);
    left -= 10;
    BUG(UNLOCK(m);) /* ROOT CAUSE */
    BUG(LOCK(m);)
    right += 10;
    UNLOCK(m);
    return arg;
}

static void *look(void *arg)
{
    LOCK(m);
    int l = left, r = right;
    UNLOCK(m);
    CHECK(l + r == 100);
    return arg;
}

int main(void)
{
    RUN(2, move, look);
    return 0;
}
