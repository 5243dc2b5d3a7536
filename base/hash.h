/* hash.h - the one way in which words and bytes are hashed in memory. SPDX-License-Identifier: MIT
 *
 * A word is multiplied by 2^64 over the golden ratio (Knuth, volume 3, section 6.4), which moves
 * all that its bits say into the upper half; so a table takes its index from there. The order that
 * such a table has must never be seen outside. What is on disk has hashes of its own:
 * engine/core/session.c, pinball/xxh64.h. This needs no libc: code inside a target may use it.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
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

/* Bytes more (FNV-1a), beginning with HASH_BYTES. */
#define HASH_BYTES 0xcbf29ce484222325ull
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    for (const uint8_t *p = bytes; count; count--)
        hash = (hash ^ *p++) * 0x100000001b3ull;
    return hash;
}

/* The next number by lot (splitmix64); the state may begin with any. */
static inline uint64_t hash_draw(uint64_t *state)
{
    uint64_t z = *state += HASH_MULTIPLIER;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

#endif
