/* lines.c - lines whose counts are hard to get right: loops and conditions on one line, switches,
 * jumps, calls with calls for arguments. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

static int calls;

static int add(int a, int b)
{
    calls++;
    return a + b;
}

static int never(int n)
{
    return n ? never(n - 1) : 0;
}

static int kind_of(int n)
{
    switch (n % 5) {
    case 0:
        return 10;
    case 1:
    case 2:
        n += 3;
        break;
    case 3:
        n = add(n, add(n, 1));
        /* fall through */
    default:
        n--;
    }
    return n;
}

static int length(const char *s)
{
    const char *p = s;
    /* clang-format off */
    while (*p) p++;
    /* clang-format on */
    return (int)(p - s);
}

static int search(int (*grid)[4], int what)
{
    int found = -1;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++)
            if (grid[y][x] == what) {
                found = 10 * y + x;
                goto out;
            }
out:
    return found;
}

static int collatz(unsigned n)
{
    int steps = 0;
    do {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    } while (n != 1);
    return steps;
}

int main(int argc, char **argv)
{
    int grid[3][4], sum = 0;
    /* clang-format off */
    for (int i = 0; i < 12; i++) grid[i / 4][i % 4] = i * i;
    /* clang-format on */
    for (int i = 0; i < 17; i++)
        sum += kind_of(i);
    sum += length("some text") + length("") + /* AGAIN 1 time */
           length(argc > 7 ? argv[7] : "x");
    for (int i = 0; i < 6; i++) {
        if (i == 2)
            continue;
        if (i > 4 || (i == 1 && sum))
            sum += search(grid, i * i);
        else
            sum -= i;
    }
    sum += collatz(27) + (argc > 9 ? never(argc) : 0);
    if (strlen(argv[0]) == 0)
        return never(1);
    printf("%d %d\n", sum, calls);
    return 0;
}
