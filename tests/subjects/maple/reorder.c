/* reorder.c - writers set two variables, a reader must not see the first alone; argument: how many
 * writers. SPDX-License-Identifier: MIT */
#include "subject.h"

static int a, b;
static pthread_mutex_t m = MUTEX;

static void *check(void *arg)
{
    (void)m;
    FIX(LOCK(m);)
    int x = GET(a), y = GET(b);
    FIX(UNLOCK(m);)
    CHECK((x == 0 && y == 0) || (x == 1 && y == -1));
    return arg;
}

static void *set(void *arg)
{
    FIX(LOCK(m);)
    SET(a, 1); /* ROOT CAUSE */
    SET(b, -1);
    FIX(UNLOCK(m);)
    return arg;
}

int main(int argc, char *argv[])
{
    int n = argument(argc, argv, 3);
    body *list[MOST];
    for (int i = 0; i < n; i++)
        list[i] = set;
    list[n] = check;
    run(n + 1, list, n + 1);
    return 0;
}
