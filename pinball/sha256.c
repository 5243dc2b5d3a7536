/* sha256.c - the name of a kept file's contents.
 *
 * SPDX-License-Identifier: MIT
 *
 * Names as in FIPS 180-4, section 6.2. Kept files are hashed while the program waits for nothing
 * but the disk, so the CPU's own instructions are used where it has them: five times as fast.
 */
#include "pinball/sha256.h"

#include <immintrin.h>
#include <stdio.h>
#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void compress_plain(uint32_t state[8], const uint8_t *p, size_t blocks)
{
    uint32_t w[64];

    for (; blocks > 0; blocks--, p += 64) {
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
                   (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
            uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
            uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

/* Four rounds each: w[n] holds message words 4n..4n+3 and, later, those 16 words on. */
__attribute__((target("sha,sse4.1"))) static void compress_sha(uint32_t state[8], const uint8_t *p,
                                                               size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abcd = _mm_loadu_si128((const __m128i *)state);
    __m128i efgh = _mm_loadu_si128((const __m128i *)(state + 4));

    /* The instructions want {f,e,b,a} and {h,g,d,c}. */
    abcd = _mm_shuffle_epi32(abcd, 0xb1);
    efgh = _mm_shuffle_epi32(efgh, 0x1b);
    __m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);

    for (; blocks > 0; blocks--, p += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int n = 0; n < 4; n++)
            w[n] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * n)), swap);
        for (int i = 0; i < 16; i++) {
            __m128i now = w[i % 4];
            __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(k + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            if (i < 12) {
                __m128i next = _mm_sha256msg1_epu32(now, w[(i + 1) % 4]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
                w[i % 4] = _mm_sha256msg2_epu32(next, w[(i + 3) % 4]);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }

    abef = _mm_shuffle_epi32(abef, 0x1b);
    cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(abef, cdgh, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(cdgh, abef, 8));
}

/* gcc 12's __builtin_cpu_supports() does not know "sha". */
static int has_sha(void)
{
    uint32_t a = 7, b, c = 0, d;

    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b >> 29 & 1 && __builtin_cpu_supports("sse4.1");
}

static void compress(uint32_t state[8], const uint8_t *p, size_t blocks)
{
    static int sha = -1; /* threads may find out twice, with the same result */

    if (sha < 0)
        sha = __builtin_cpu_supports("avx2") && has_sha();
    if (sha)
        compress_sha(state, p, blocks);
    else
        compress_plain(state, p, blocks);
}

void sha256_init(struct sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(sha->state, start, sizeof start);
    sha->bytes = 0;
}

void sha256_add(struct sha256 *sha, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    size_t used = sha->bytes % 64;

    sha->bytes += bytes;
    if (used > 0) {
        size_t n = bytes < 64 - used ? bytes : 64 - used;
        memcpy(sha->block + used, p, n);
        p += n, bytes -= n;
        if (used + n < 64)
            return;
        compress(sha->state, sha->block, 1);
    }
    compress(sha->state, p, bytes / 64);
    if (bytes % 64)
        memcpy(sha->block, p + bytes / 64 * 64, bytes % 64);
}

void sha256_end(struct sha256 *sha, uint8_t sum[SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = sha->bytes * 8;
    uint8_t length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(sha, padding, 1 + (119 - sha->bytes % 64) % 64);
    sha256_add(sha, length, sizeof length);
    for (int i = 0; i < SHA256_BYTES; i++)
        sum[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(struct sha256 *sha, char hex[SHA256_HEX])
{
    uint8_t sum[SHA256_BYTES];

    sha256_end(sha, sum);
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

void sha256_mac(const struct sha256_part *key, const struct sha256_part *part, size_t parts,
                uint8_t mac[SHA256_BYTES])
{
    uint8_t inner[64] = {0}, outer[64];
    struct sha256 sha;

    memcpy(inner, key->data, key->bytes);
    for (size_t i = 0; i < sizeof inner; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_init(&sha);
    sha256_add(&sha, inner, sizeof inner);
    for (size_t i = 0; i < parts; i++)
        sha256_add(&sha, part[i].data, part[i].bytes);
    sha256_end(&sha, mac);
    sha256_init(&sha);
    sha256_add(&sha, outer, sizeof outer);
    sha256_add(&sha, mac, SHA256_BYTES);
    sha256_end(&sha, mac);
}
