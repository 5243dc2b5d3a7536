/* reader_writer.c - readers count themselves without a lock; a writer trusts the count.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int readers, data[2];
static pthread_mutex_t m = MUTEX;

static void *read_pair(void *arg)
{
    FIX(LOCK(m);)
    int n = GET(readers);
    SET(readers, n + 1);
    int a = GET(data[0]), b = GET(data[1]);
    SET(readers, GET(readers) - 1);
    FIX(UNLOCK(m);)
    CHECK(a == b);
    return arg;
}

static void *write_pair(void *arg)
{
    LOCK(m);
    if (GET(readers) == 0) { /* ROOT CAUSE */
        SET(data[0], 1);
        SET(data[1], 1);
    }
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(3, read_pair, read_pair, write_pair);
    return 0;
}
