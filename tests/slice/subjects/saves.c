/* saves.c - functions that save registers in all the ways compilers have.
 *
 * SPDX-License-Identifier: MIT
 *
 * Many values that live across calls, early returns before anything is saved, frames of unknown
 * size, variable arguments, recursion, calls through pointers. An argument says how often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static long table[64];

static NOINLINE long leaf(long a, long b)
{
    table[a & 63] += b;
    return table[b & 63] ^ a;
}

/* Six values that outlive calls, and more. */
static NOINLINE long many(long a, long b, long c, long d, long e, long f)
{
    long g = leaf(a, b), h = leaf(b, c), i = leaf(c, d), j = leaf(d, e);
    for (long k = 0; k < 3; k++) {
        g += leaf(h, i) + a;
        h ^= leaf(i, j) + b;
        i += leaf(j, g) + c;
        j ^= leaf(g, h) + d;
    }
    return g + h + i + j + e + f;
}

/* Often done before it needs a register. */
static NOINLINE long early(long a, long b)
{
    if (a & 3)
        return b;
    long sum = 0;
    for (long i = 0; i < 4; i++)
        sum += leaf(a + i, sum ^ b);
    return sum;
}

static NOINLINE long sized(long n)
{
    long room[n + 1];
    memset(room, 0, sizeof room);
    for (long i = 0; i <= n; i++)
        room[i] = leaf(i, n) + (i ? room[i - 1] : 0);
    return room[n];
}

static NOINLINE long listed(int n, ...)
{
    va_list list;
    long sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += leaf(va_arg(list, long), sum);
    va_end(list);
    return sum;
}

static NOINLINE long ways(long n)
{
    if (n < 2)
        return 1;
    long a = ways(n - 1);
    return a + ways(n - 2) + leaf(a, n);
}

static NOINLINE double mixed(double x, long n)
{
    double sum = x;
    for (long i = 0; i < n; i++)
        sum = sum * 0.5 + (double)leaf(i, (long)sum & 63);
    return sum;
}

static jmp_buf back;

static NOINLINE void jumps(long n)
{
    if (leaf(n, n) & 1)
        longjmp(back, 1);
}

static NOINLINE void tries(long n)
{
    if (!setjmp(back))
        jumps(n);
}

static int by_value(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static NOINLINE long larger(long a, long b, long c, long d, long e, long f, long g, long h)
{
    struct {
        long v[6];
    } s = {{a, b, c, d, e, f}};
    long sum = 0;
    for (int i = 0; i < 6; i++)
        sum += leaf(s.v[i], g) * h;
    return sum + s.v[g & 3];
}

int main(int argc, char **argv)
{
    long times = argc > 1 ? strtol(argv[1], NULL, 10) : 40, sum = 0;
    for (long i = 0; i < times; i++) {
        sum += many(i, sum, 3, 4, 5, 6) + early(i, sum) + sized(i % 20) + ways(i % 7);
        sum += listed(5, 1L, 2L, sum, 4L, i) + larger(i, 2, sum, 4, 5, 6, 7, 8);
        sum += (long)mixed((double)(i & 7), i % 9) & 0xff;
        tries(i);
        qsort(table, 64, sizeof *table, by_value);
        sum &= 0xffffff;
    }
    printf("%ld\n", sum);
    return 0;
}
