/* summing.c - a sum that is wrong, between much that has nothing to do with it.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

static int table[64];
static volatile unsigned long noise;

static void waste(int rounds)
{
    for (int i = 0; i < rounds; i++)
        noise = noise * 31 + (unsigned)i;
    dprintf(1, "wasted %d\n", rounds);
}

static void fill(int n)
{
    for (int i = 0; i < n; i++)
        table[i] = i == 5 ? 7 : i; /* ROOT CAUSE: one is not what it should be */
}

static int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += table[i]; /* READS */
    return s;
}

int main(void)
{
    int n = 8;
    waste(30000);
    fill(n);
    waste(40000);
    int total = sum(n);
    waste(3000);                  /* LEFT OUT */
    if (total != n * (n - 1) / 2) /* LAST */
        abort();
    printf("%d\n", total);
    return 0;
}
