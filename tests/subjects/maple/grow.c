/* grow.c - a list grows under a lock; readers take its length and its place without.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int *items, length;
static pthread_mutex_t m = MUTEX;

static void *append(void *arg)
{
    for (int i = 0; i < 2; i++) {
        LOCK(m);
        int *more = malloc(((size_t)length + 2) * sizeof *more);
        memcpy(more, items, ((size_t)length + 1) * sizeof *more);
        more[length] = 7;
        more[length + 1] = -1; /* the end */
        SET(length, length + 1);
        SET(items, more); /* ROOT CAUSE */
        UNLOCK(m);
    }
    return arg;
}

static void *look(void *arg)
{
    FIX(LOCK(m);)
    int n = GET(length);
    int *at = GET(items);
    FIX(UNLOCK(m);)
    for (int i = 0; i < n; i++)
        CHECK(at[i] == 7);
    return arg;
}

int main(void)
{
    items = malloc(sizeof *items);
    items[0] = -1;
    RUN(3, append, look, look);
    return 0;
}
