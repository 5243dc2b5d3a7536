/* lazy.c - three threads change a number in turn; one order of them is not meant.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int data;
static pthread_mutex_t m = MUTEX;

static void *one(void *arg)
{
    LOCK(m);
    data++;
    UNLOCK(m);
    return arg;
}

static void *two(void *arg)
{
    LOCK(m);
    data += 2;
    UNLOCK(m);
    return arg;
}

static void *check(void *arg)
{
    LOCK(m);
    CHECK(data != 2); /* ROOT CAUSE */
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(3, one, check, two);
    return 0;
}
