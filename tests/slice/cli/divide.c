/* divide.c - a division by a number that became zero elsewhere. SPDX-License-Identifier: MIT */
#include <stdio.h>

static int people[4] = {3, 2, 4, 1};

static int count(int from)
{
    int n = 0;
    for (int i = from; i < 4; i++)
        n += people[i];
    return n;
}

static void leave(int i)
{
    people[i] = 0; /* ROOT CAUSE */
}

int main(void)
{
    int cake = 100, n;
    for (int i = 2; i < 4; i++)
        leave(i);
    n = count(2);
    printf("%d pieces\n", cake); /* UNRELATED */
    return cake / n;             /* CRASH */
}
