/* why_not.c - lines that are not executed, for several reasons. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
static int limit = 10;
static void rare(int x)
{
    printf("rare %d\n", x);
}
static void deep(int x)
{
    if (x > 1000)
        rare(x);
}
static int work(int n)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        int v = i * 3;
        if (v > limit) {
            if (v % 7 == 8)
                bad = 1;
            else
                bad += 2;
        }
    }
    return bad;
}
void never(int x)
{
    if (x)
        deep(x * 10000);
}
int main(int argc, char **argv)
{
    int r = work(argc > 1 ? atoi(argv[1]) : 20);
    deep(r);
    if (argc > 5)
        never(3);
    printf("%d\n", r);
    return 0;
}
