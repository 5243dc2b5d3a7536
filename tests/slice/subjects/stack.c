/* stack.c - alloca, arrays of variable length, longjmp, many arguments, structures by value.
 * SPDX-License-Identifier: MIT */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

struct wide {
    long v[9];
};

static jmp_buf back;
static volatile int depth;

static __attribute__((noinline)) struct wide shift(struct wide w, int by)
{
    struct wide out;
    for (int i = 0; i < 9; i++)
        out.v[i] = w.v[(i + by) % 9] + by;
    return out;
}

static __attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g,
                                           long h, struct wide w)
{
    return a - b + c - d + e - f + g * h + w.v[b % 9];
}

static __attribute__((noinline)) int dive(int n)
{
    char *room = alloca((size_t)n * 16 + 1);
    memset(room, n, (size_t)n * 16 + 1);
    depth = n;
    if (n == 5)
        longjmp(back, room[n]);
    return n > 9 ? 0 : dive(n + 1) + room[0];
}

static __attribute__((noinline)) long fill(int n)
{
    long v[n];
    for (int i = 0; i < n; i++)
        v[i] = i ? v[i - 1] * 3 + n : n;
    return v[n - 1] ^ v[n / 2];
}

int main(int argc, char **argv)
{
    struct wide w;
    volatile int turns = 0;
    (void)argv;
    for (int i = 0; i < 9; i++)
        w.v[i] = i * argc;
    int got = setjmp(back);
    turns++;
    if (turns < 4)
        dive(turns + argc - 1);
    w = shift(shift(w, got), turns);
    printf("%d %d %ld %ld\n", got, depth, fill(12) + fill(argc + 3),
           many(1, argc, 3, got, 5, turns, 7, 8, w));
    return 0;
}
