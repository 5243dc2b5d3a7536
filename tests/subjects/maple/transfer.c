/* transfer.c - transfers between accounts; each account has its lock, the sum is looked at in
 * between. SPDX-License-Identifier: MIT */
#include "subject.h"

static int account[3] = {10, 10, 10};
static pthread_mutex_t m[3] = {MUTEX, MUTEX, MUTEX}, all = MUTEX;

static void *transfer(void *arg)
{
    int i = (int)(long)arg, to = (i + 1) % 3;
    (void)all;
    FIX(LOCK(all);)
    LOCK(m[i]);
    account[i] -= 5;
    UNLOCK(m[i]);
    LOCK(m[to]); /* ROOT CAUSE */
    account[to] += 5;
    UNLOCK(m[to]);
    FIX(UNLOCK(all);)
    return arg;
}

static void *audit(void *arg)
{
    int sum = 0;
    FIX(LOCK(all);)
    for (int i = 0; i < 3; i++) {
        LOCK(m[i]);
        sum += account[i];
        UNLOCK(m[i]);
    }
    FIX(UNLOCK(all);)
    CHECK(sum == 30);
    return arg;
}

int main(void)
{
    RUN(3, transfer, transfer, audit);
    return 0;
}
