/* openssl_square.c - squaring a large number loses a carry that is rarely there.
 *
 * SPDX-License-Identifier: MIT
 *
 * After OpenSSL's CVE-2014-3570: BN_sqr() gave wrong results for a few numbers, since the doubled
 * product of two words could carry twice and the code added one.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 8

struct number {
    uint32_t w[2 * WORDS + 1];
};

/* [c2:c1:c0] += a * b, twice. */
static void add_twice(uint32_t a, uint32_t b, uint32_t *c0, uint32_t *c1, uint32_t *c2)
{
    uint64_t t = (uint64_t)a * b;
    uint32_t low = (uint32_t)t, high = (uint32_t)(t >> 32);
#ifdef FIXED
    for (int i = 0; i < 2; i++) {
        uint64_t sum = (uint64_t)*c0 + low;
        uint64_t up = (uint64_t)*c1 + high + (sum >> 32);
        *c0 = (uint32_t)sum;
        *c1 = (uint32_t)up;
        *c2 += (uint32_t)(up >> 32);
    }
#else
    uint64_t sum = (uint64_t)*c0 + 2 * (uint64_t)low;
    uint64_t up = (uint64_t)*c1 + 2 * (uint64_t)high + (sum >> 32 != 0); /* ROOT CAUSE */
    *c0 = (uint32_t)sum;
    *c1 = (uint32_t)up;
    *c2 += (uint32_t)(up >> 32);
#endif
}

static void add_once(uint32_t a, uint32_t *c0, uint32_t *c1, uint32_t *c2)
{
    uint64_t t = (uint64_t)a * a;
    uint64_t sum = (uint64_t)*c0 + (uint32_t)t;
    uint64_t up = (uint64_t)*c1 + (t >> 32) + (sum >> 32);
    *c0 = (uint32_t)sum;
    *c1 = (uint32_t)up;
    *c2 += (uint32_t)(up >> 32);
}

static void square(const struct number *a, struct number *r)
{
    uint32_t c0 = 0, c1 = 0, c2 = 0;
    for (int k = 0; k < 2 * WORDS; k++) {
        for (int i = k < WORDS ? 0 : k - WORDS + 1; 2 * i < k; i++)
            add_twice(a->w[i], a->w[k - i], &c0, &c1, &c2);
        if (k % 2 == 0)
            add_once(a->w[k / 2], &c0, &c1, &c2);
        r->w[k] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
}

static uint32_t remainder_of(const struct number *a, int words, uint32_t by)
{
    uint64_t rest = 0;
    for (int i = words - 1; i >= 0; i--)
        rest = (rest << 32 | a->w[i]) % by;
    return (uint32_t)rest;
}

int main(void)
{
    uint64_t seed = 1;
    for (int round = 0; round < 10; round++) {
        struct number a = {{0}}, r = {{0}};
        for (int i = 0; i < WORDS; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            a.w[i] = (uint32_t)(seed >> 33) & 0xffff;
        }
        if (round == 7)
            a.w[3] = a.w[4] = 0xffffffff;
        square(&a, &r);
        uint64_t rest = remainder_of(&a, WORDS, 65521);
        printf("%d: %u\n", round, remainder_of(&r, 2 * WORDS, 65521));
        assert(rest * rest % 65521 == remainder_of(&r, 2 * WORDS, 65521));
    }
    return 0;
}
