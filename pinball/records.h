/* records.h - whether bytes are records.
 *
 * SPDX-License-Identifier: MIT
 *
 * Only the frame is looked at: known kinds, sizes in bounds, no record cut off. The reader of a
 * record checks what it holds.
 */
#ifndef PINBALL_RECORDS_H
#define PINBALL_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "pinball/record.h"

/* The length of the longest prefix of whole, well-formed records; *count of them. `data` is 8-byte
 * aligned. */
size_t records_check(const void *data, size_t bytes, uint64_t *count);

/* The least size of a whole record of this kind. Readers ask before they look into one. */
size_t records_least(unsigned kind);

/* The first record of [at, end) or NULL; `bytes` must have been checked. */
const struct record *records_first(const void *data, size_t bytes);
const struct record *records_next(const struct record *record, const void *end);

#endif
