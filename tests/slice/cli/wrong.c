/* wrong.c - an assertion that fails for a number that was read wrong. SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>

static int table[8];

static void fill(void)
{
    for (int i = 0; i < 8; i++)
        table[i] = i * i + (i == 6); /* ROOT CAUSE */
}

static int total(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i]; /* ADD */
    return sum;
}

int main(void)
{
    int sum;
    fill();
    sum = total(8);               /* SUM */
    printf("the sum is there\n"); /* UNRELATED */
    assert(sum == 140);           /* FAILS */
    return 0;
}
