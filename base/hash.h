/* hash.h - the one way in which words are hashed in memory. SPDX-License-Identifier: MIT
 *
 * A word is multiplied by 2^64 over the golden ratio (Knuth, volume 3, section 6.4), which moves
 * all that its bits say into the upper half; so a table takes its index from there. The order that
 * such a table has must never be seen outside. What is on disk has hashes of its own:
 * engine/core/session.c, pinball/xxh64.h. This needs no libc: code inside a target may use it.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ull

/* One word more. The upper bits are the good ones. */
static inline uint64_t hash_fold(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * HASH_MULTIPLIER;
}

/* 32 good bits, of which a table takes as many as it needs from below. */
static inline uint32_t hash_word(uint64_t word)
{
    return (uint32_t)(hash_fold(0, word) >> 32);
}

static inline uint32_t hash_pair(uint64_t first, uint64_t second)
{
    return (uint32_t)(hash_fold(hash_fold(0, second), first) >> 32);
}

#endif
