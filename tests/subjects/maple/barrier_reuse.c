/* barrier_reuse.c - a barrier made of a counter is used twice: who comes to it again takes part in
 * the round before. SPDX-License-Identifier: MIT */
#include "subject.h"

enum { THREADS = 2, ROUNDS = 2 };
static int here, round_number, passed[ROUNDS];
static pthread_mutex_t m = MUTEX;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;

static void barrier(void)
{
    LOCK(m);
    const int mine = round_number;
    (void)mine;
    if (++here == THREADS) {
        here = 0; /* ROOT CAUSE */
        round_number++;
        pthread_cond_broadcast(&all);
    } else {
        while (FIX(mine == round_number) BUG(here))
            pthread_cond_wait(&all, &m);
    }
    UNLOCK(m);
}

static void *walk(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        barrier();
        __atomic_fetch_add(&passed[i], 1, __ATOMIC_RELAXED);
    }
    return arg;
}

int main(void)
{
    RUN(THREADS, walk);
    return passed[ROUNDS - 1] != THREADS;
}
