/* two_stage.c - two variables are set under a lock each, and read in the same way; argument: how
 * many threads write. SPDX-License-Identifier: MIT */
#include "subject.h"

static int first, second;
static pthread_mutex_t a = MUTEX, b = MUTEX;

static void *write_both(void *arg)
{
    LOCK(a);
    first = 1;
    UNLOCK(a);
    LOCK(b); /* ROOT CAUSE */
    second = first + 1;
    UNLOCK(b);
    return arg;
}

static void *read_both(void *arg)
{
    LOCK(a);
    int x = first;
    UNLOCK(a);
    if (!x)
        return arg;
    LOCK(b);
    int y = second;
    UNLOCK(b);
    CHECK(y == x + 1);
    return arg;
}

int main(int argc, char *argv[])
{
    int n = argument(argc, argv, 2) - 1;
    body *list[MOST];
    for (int i = 0; i < n; i++)
        list[i] = write_both;
    list[n] = read_both;
    run(n + 1, list, n + 1);
    return 0;
}
