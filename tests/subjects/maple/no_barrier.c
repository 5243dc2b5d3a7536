/* no_barrier.c - the second phase reads what the others wrote in the first; nobody waits.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

enum { N = 3 };
static int part[N];
static pthread_barrier_t barrier;

static void *phases(void *arg)
{
    int i = (int)(long)arg, sum = 0;
    SET(part[i], i + 1);
    FIX(pthread_barrier_wait(&barrier);)
    for (int k = 0; i == N - 1 && k < N; k++)
        sum += GET(part[k]); /* ROOT CAUSE */
    CHECK(i < N - 1 || sum == 6);
    return arg;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, N);
    RUN(N, phases);
    return 0;
}
