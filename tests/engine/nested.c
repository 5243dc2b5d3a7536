/* nested.c - a chain of indirect calls, deeper than a superblock is long.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

typedef unsigned long function(unsigned long);

enum { DEEP = 40, TURNS = 3000 };

static function *volatile next[DEEP + 1];

/* A function each: no block is met twice on the way down. */
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define LEVELS(X) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4)
#define FUNCTION(n)                                                                                \
    __attribute__((noinline)) static unsigned long level##n(unsigned long x)                       \
    {                                                                                              \
        return next[n - 10 + 1](x * 3 + n) ^ n;                                                    \
    }
#define STORE(n) next[n - 10] = level##n;
LEVELS(FUNCTION)

static unsigned long bottom(unsigned long x)
{
    return x + 1;
}

int main(void)
{
    unsigned long sum = 0;
    LEVELS(STORE)
    next[DEEP] = bottom;
    for (unsigned long i = 0; i < TURNS; i++)
        sum += next[0](i);
    printf("%lx\n", sum);
    return 0;
}
