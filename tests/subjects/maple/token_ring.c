/* token_ring.c - each takes what the one before has, and adds one; in the end they are to differ.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int x[3] = {1, 2, 3};
static pthread_mutex_t m = MUTEX;

static void *pass(void *arg)
{
    int i = (int)(long)arg;
    LOCK(m);
    x[i] = (x[(i + 2) % 3] + 1) % 4; /* ROOT CAUSE */
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(3, pass);
    CHECK(x[0] == 0 && x[1] == 1 && x[2] == 2);
    return 0;
}
