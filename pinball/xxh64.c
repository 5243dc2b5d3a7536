/* xxh64.c - the checksum of chunks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/xxh64.h"

#include <string.h>

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t rotate(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static uint64_t load64(const uint8_t *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

static uint32_t load32(const uint8_t *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

static uint64_t round64(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * P2, 31) * P1;
}

static uint64_t merge(uint64_t sum, uint64_t lane)
{
    return (sum ^ round64(0, lane)) * P1 + P4;
}

/* The stripes of 32 bytes; moves *p behind them. */
static uint64_t stripes(const uint8_t **p, size_t bytes, uint64_t seed)
{
    uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
    const uint8_t *at = *p;

    for (; bytes >= 32; bytes -= 32, at += 32) {
        a = round64(a, load64(at));
        b = round64(b, load64(at + 8));
        c = round64(c, load64(at + 16));
        d = round64(d, load64(at + 24));
    }
    *p = at;
    uint64_t sum = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge(merge(merge(merge(sum, a), b), c), d);
}

uint64_t xxh64(const void *data, size_t bytes, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = bytes >= 32 ? stripes(&p, bytes, seed) : seed + P5;
    size_t left = bytes % 32;

    sum += bytes;
    for (; left >= 8; left -= 8, p += 8)
        sum = rotate(sum ^ round64(0, load64(p)), 27) * P1 + P4;
    for (; left >= 4; left -= 4, p += 4)
        sum = rotate(sum ^ load32(p) * P1, 23) * P2 + P3;
    for (; left > 0; left--, p++)
        sum = rotate(sum ^ *p * P5, 11) * P1;

    sum = (sum ^ sum >> 33) * P2;
    sum = (sum ^ sum >> 29) * P3;
    return sum ^ sum >> 32;
}
