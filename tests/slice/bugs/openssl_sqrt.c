/* openssl_sqrt.c - a search for an exponent misses its end, and never ends.
 *
 * SPDX-License-Identifier: MIT
 *
 * After OpenSSL 1.1.1m, CVE-2022-0778: BN_mod_sqrt() assumed a prime. For another number the
 * innermost loop counts past the exponent that it compares with.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long turns;

static unsigned long times(unsigned long a, unsigned long b, unsigned long p)
{
    assert(++turns < 20000);
    return a * b % p;
}

static unsigned long power(unsigned long a, unsigned long n, unsigned long p)
{
    unsigned long r = 1;
    for (; n; n >>= 1, a = times(a, a, p))
        if (n & 1)
            r = times(r, a, p);
    return r;
}

/* How often must b be squared to be 1? */
static unsigned order(unsigned long b, unsigned e, unsigned long p)
{
    unsigned i = 1;
    unsigned long t = times(b, b, p);
#ifdef FIXED
    for (; i < e && t != 1; i++)
        t = times(t, t, p);
    if (i >= e)
        return 0;
#else
    while (t != 1) {
        i++;
        if (i == e) /* ROOT CAUSE */
            return 0;
        t = times(t, t, p);
    }
#endif
    return i;
}

static unsigned long root(unsigned long a, unsigned long p)
{
    unsigned long q = p - 1, y = 2, x, b;
    unsigned e = 0;
    for (; !(q & 1); q >>= 1)
        e++;
    while (power(y, (p - 1) / 2, p) == 1)
        y++;
    y = power(y, q, p);
    x = power(a, (q + 1) / 2, p);
    b = power(a, q, p);
    while (b != 1) {
        unsigned i = order(b, e, p);
        if (!i)
            return 0;
        unsigned long t = y;
        for (unsigned k = e - i - 1; k > 0 && k < e; k--)
            t = times(t, t, p);
        y = times(t, t, p);
        x = times(x, t, p);
        b = times(b, y, p);
        e = i;
    }
    return x;
}

int main(void)
{
    static const unsigned long field[] = {13, 17, 41, 97, 113, 119};
    unsigned long sum = 0;
    for (unsigned i = 0; i < sizeof field / sizeof *field; i++)
        sum += root(4, field[i]) + root(9, field[i]) + root(2, field[i]);
    printf("%lu, %lu turns\n", sum, turns);
    return 0;
}
