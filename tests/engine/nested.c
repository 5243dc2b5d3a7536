/* nested.c - a chain of indirect calls, deeper than a trace is long.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

typedef unsigned long function(unsigned long);

enum { DEEP = 40, TURNS = 3000 };

static function *volatile next[DEEP + 1];

/* A function each: no block is met twice on the way down. */
/* clang-format off */
#define LEVELS(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) \
    X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) \
    X(30) X(31) X(32) X(33) X(34) X(35) X(36) X(37) X(38) X(39)
/* clang-format on */
#define FUNCTION(n)                                                                                \
    __attribute__((noinline)) static unsigned long level##n(unsigned long x)                       \
    {                                                                                              \
        return next[n + 1](x * 3 + n) ^ n;                                                         \
    }
#define STORE(n) next[n] = level##n;
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
