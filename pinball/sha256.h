/* sha256.h - the name of a kept file's contents, and what a seal is made with.
 *
 * SPDX-License-Identifier: MIT
 *
 * SHA-256 as FIPS 180-4 has it, HMAC as RFC 2104 has it.
 */
#ifndef PINBALL_SHA256_H
#define PINBALL_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 }; /* of a sum; in hexadecimal, with the final NUL */

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t bytes);
/* Ends the sum; sha256_init() begins another. */
void sha256_end(struct sha256 *sha, uint8_t sum[SHA256_BYTES]);
void sha256_hex(struct sha256 *sha, char hex[SHA256_HEX]);

struct sha256_part {
    const void *data;
    size_t bytes;
};

/* HMAC-SHA256 over the parts, one behind the other. A key has at most 64 bytes. */
void sha256_mac(const struct sha256_part *key, const struct sha256_part *part, size_t parts,
                uint8_t mac[SHA256_BYTES]);

#endif
