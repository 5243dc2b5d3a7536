/* calls.c - recursion, tail calls, pointers to functions, sorting with a callback, switches.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static __attribute__((noinline)) long sum(const int *v, int n, long so_far);
static __attribute__((noinline)) long odd(const int *v, int n, long so_far)
{
    return n ? sum(v + 1, n - 1, so_far - *v) : so_far;
}

static __attribute__((noinline)) long sum(const int *v, int n, long so_far)
{
    if (!n)
        return so_far;
    return *v % 2 ? odd(v + 1, n - 1, so_far + 3 * *v) : sum(v + 1, n - 1, so_far + *v);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int twice(int x)
{
    return 2 * x;
}

static int less(int x)
{
    return x - 7;
}

static int (*const operation[])(int) = {twice, less, abs, twice};

static int choose(int kind, int x)
{
    switch (kind) {
    case 0:
        return x + 1;
    case 1:
        return x * 5;
    case 2:
        x ^= 3; /* fall through */
    case 3:
        return operation[x & 3](x);
    case 4:
        return x > 10 ? choose(0, x - 10) : choose(5, x);
    case 5:
        return -x;
    default:
        return x;
    }
}

int main(int argc, char **argv)
{
    int v[24], total = 0;
    (void)argv;
    for (int i = 0; i < 24; i++)
        v[i] = (i * 37 + argc) % 101;
    qsort(v, 24, sizeof v[0], compare);
    for (int i = 0; i < 24; i++)
        total = choose(v[i] % 7, total + v[i]);
    int key = v[7];
    int *found = bsearch(&key, v, 24, sizeof v[0], compare);
    printf("%d %d %ld %d\n", fib(8), total, sum(v, 24, total), found ? *found : -1);
    return 0;
}
