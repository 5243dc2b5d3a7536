/* fib.c - recursion without inlining or tail calls: calls and returns, little else.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

static __attribute__((noinline)) long fib(long n)
{
    long a, b;

    if (n < 2)
        return n;
    a = fib(n - 1);
    __asm__ volatile("" : "+r"(a)); /* both calls stay calls */
    b = fib(n - 2);
    __asm__ volatile("" : "+r"(b));
    return a + b;
}

int main(void)
{
    printf("%ld\n", fib(40));
    return 0;
}
