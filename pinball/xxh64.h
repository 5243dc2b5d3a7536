/* xxh64.h - the checksum of chunks.
 *
 * SPDX-License-Identifier: MIT
 *
 * XXH64 as its specification has it (xxHash fast digest algorithm, revision 0.2.0). It finds
 * damage, not malice.
 */
#ifndef PINBALL_XXH64_H
#define PINBALL_XXH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t xxh64(const void *data, size_t bytes, uint64_t seed);

#endif
