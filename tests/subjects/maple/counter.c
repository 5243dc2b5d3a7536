/* counter.c - threads count with ++, which the compiler makes one instruction that is not locked.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int count;
static pthread_mutex_t m = MUTEX;

static void *add(void *arg)
{
    (void)m;
    FIX(LOCK(m);)
    count++; /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    return arg;
}

int main(void)
{
    RUN(2, add);
    CHECK(count == 2);
    return 0;
}
