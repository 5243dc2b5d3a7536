/* passed.c - a line that makes a value was passed by. SPDX-License-Identifier: MIT */
#include <stdio.h>

static int limit = 100, counted;

static void set_limit(int to)
{
    limit = to + 1; /* CAUSE */
}

static void count(int n)
{
    if (n > limit)    /* PASSES */
        counted += n; /* PASSED */
}

static int copy(int n)
{
    int same = n;
    return same;
}

int main(void)
{
    count(200);
    set_limit(49);
    count(50);
    count(40);
    int got = counted;
    int result = copy(got);
    printf("%d\n", result); /* CRITERION */
    return result != 250;
}
