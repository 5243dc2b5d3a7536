/* lost_update.c - two threads add one each. SPDX-License-Identifier: MIT */
#include "subject.h"

static int total;
static pthread_mutex_t m = MUTEX;

static void *add(void *arg)
{
    (void)m;
    FIX(LOCK(m);)
    int t = GET(total);
    SET(total, t + 1); /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    return arg;
}

int main(void)
{
    RUN(2, add);
    CHECK(total == 2);
    return 0;
}
