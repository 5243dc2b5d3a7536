/* test_then_set.c - a lock of its own, of C11 atomics: it looks and then takes, in two steps.
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "subject.h"

static atomic_int taken;
static int inside, visits;

static void enter(void)
{
#ifdef FIXED
    int no = 0;
    while (!atomic_compare_exchange_weak(&taken, &no, 1))
        no = 0;
#else
    while (atomic_load_explicit(&taken, memory_order_acquire))
        ;
    atomic_store_explicit(&taken, 1, memory_order_release); /* ROOT CAUSE */
#endif
}

static void *visit(void *arg)
{
    for (int i = 0; i < 2; i++) {
        enter();
        inside++;
        CHECK(inside == 1);
        visits++;
        inside--;
        atomic_store_explicit(&taken, 0, memory_order_release);
    }
    return arg;
}

int main(void)
{
    RUN(2, visit);
    CHECK(visits == 4);
    return 0;
}
