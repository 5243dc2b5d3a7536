/* rng.h - xoshiro256** seeded by splitmix64 (Blackman and Vigna): small, fast, the same everywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_RNG_H
#define INSN_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

static inline uint64_t rng_mix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;
    state = rng_mix(&state) ^ stream * 0xd1342543de82ef95u;
    for (int i = 0; i < 4; i++)
        r->s[i] = rng_mix(&state);
}

static inline uint64_t rng_rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static inline uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, result = rng_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotl(s[3], 45);
    return result;
}

static inline unsigned rng_below(struct rng *r, unsigned n)
{
    return (unsigned)((rng_u64(r) >> 32) * n >> 32);
}

static inline bool rng_percent(struct rng *r, unsigned percent)
{
    return rng_below(r, 100) < percent;
}

/* Numbers that find bugs: small, near powers of two, all ones, floating-point corner cases. */
uint64_t rng_interesting(struct rng *r);

#endif
