/* seqlock.c - a reader of a pair under a sequence counter looks at the counter before it reads, not
 * after. SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "subject.h"

static atomic_uint sequence;
static atomic_int x, y;

static void *write_pairs(void *arg)
{
    for (int i = 1; i <= 3; i++) {
        atomic_fetch_add(&sequence, 1);
        atomic_store(&x, i);
        atomic_store(&y, i);
        atomic_fetch_add(&sequence, 1);
    }
    return arg;
}

static void *read_pair(void *arg)
{
    unsigned before;
    int a, b;
    do {
        while ((before = atomic_load(&sequence)) & 1)
            ;
        a = atomic_load(&x); /* ROOT CAUSE */
        b = atomic_load(&y);
    } while (FIX(before != atomic_load(&sequence)) BUG(before & 1));
    CHECK(a == b);
    return arg;
}

int main(void)
{
    RUN(2, write_pairs, read_pair);
    return 0;
}
