/* config_swap.c - a reader looks twice which settings hold: half of them are the new ones.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

struct limits {
    int low, high;
};
static struct limits before = {20, 30}, after = {1, 10};
static struct limits *now = &before;

static void *read_both(void *arg)
{
    const struct limits *once = GET(now);
    const int low = GET(once->low);
    BUG(once = GET(now);) /* ROOT CAUSE */
    CHECK(low < GET(once->high));
    return arg;
}

static void *swap(void *arg)
{
    SET(now, &after); /* ROOT CAUSE */
    return arg;
}

int main(void)
{
    RUN(2, read_both, swap);
    return 0;
}
