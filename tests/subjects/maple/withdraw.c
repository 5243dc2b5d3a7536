/* withdraw.c - two withdrawals look at the balance before they take from it.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int balance = 100;
static pthread_mutex_t m = MUTEX;

static int look(void)
{
    BUG(LOCK(m);)
    int seen = balance;
    BUG(UNLOCK(m);)
    return seen;
}

static void *withdraw(void *arg)
{
    FIX(LOCK(m);)
    if (look() >= 80) { /* ROOT CAUSE */
        BUG(LOCK(m);)
        balance -= 80;
        BUG(UNLOCK(m);)
    }
    FIX(UNLOCK(m);)
    return arg;
}

int main(void)
{
    RUN(2, withdraw);
    CHECK(balance >= 0);
    return 0;
}
