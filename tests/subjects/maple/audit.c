/* audit.c - money goes from one account to the other under a lock each; an audit in between misses
 * it. SPDX-License-Identifier: MIT */
#include "subject.h"

static struct account {
    pthread_mutex_t lock;
    long balance;
} account[2] = {{MUTEX, 100}, {MUTEX, 100}};

static void *transfer(void *arg)
{
    LOCK(account[0].lock);
    account[0].balance -= 30;
    BUG(UNLOCK(account[0].lock);)
    LOCK(account[1].lock);
    account[1].balance += 30; /* ROOT CAUSE */
    UNLOCK(account[1].lock);
    FIX(UNLOCK(account[0].lock);)
    return arg;
}

static void *audit(void *arg)
{
    LOCK(account[0].lock);
    LOCK(account[1].lock);
    long sum = account[0].balance + account[1].balance;
    UNLOCK(account[1].lock);
    UNLOCK(account[0].lock);
    CHECK(sum == 200);
    return arg;
}

int main(void)
{
    RUN(2, transfer, audit);
    return 0;
}
