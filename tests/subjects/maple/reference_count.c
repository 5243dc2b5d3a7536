/* reference_count.c - two owners give an object up; the count is changed and read in two steps.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int count = 2, frees;

static void *release(void *arg)
{
    BUG(__atomic_fetch_sub(&count, 1, __ATOMIC_SEQ_CST);)
    if (BUG(GET(count) == 0) /* ROOT CAUSE */
        FIX(__atomic_sub_fetch(&count, 1, __ATOMIC_SEQ_CST) == 0))
        __atomic_fetch_add(&frees, 1, __ATOMIC_SEQ_CST);
    return arg;
}

int main(void)
{
    RUN(2, release);
    CHECK(frees == 1);
    return 0;
}
