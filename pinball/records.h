/* records.h - whether bytes are records.
 *
 * SPDX-License-Identifier: MIT
 *
 * Only the frame is looked at: known kinds or such that may be skipped, sizes in bounds, no record
 * cut off. The reader of a record checks what it holds.
 */
#ifndef PINBALL_RECORDS_H
#define PINBALL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pinball/record.h"

/* The length of the longest prefix of whole, well-formed records; *count of them. `data` is 8-byte
 * aligned. */
size_t records_check(const void *data, size_t bytes, uint64_t *count);

bool records_known(unsigned kind); /* or it may be skipped */

extern const uint32_t records_sizes[RECORD_KINDS]; /* 0: no such kind */

/* The least size of a whole record of this kind. Readers ask before they look into one. SIZE_MAX:
 * nobody knows what is in it. Inline, since the recorder asks for each record. */
static inline size_t records_least(unsigned kind)
{
    return kind < RECORD_KINDS && records_sizes[kind] ? records_sizes[kind] : SIZE_MAX;
}

/* When it was written (RECORD_TIME_BYTES); 0: it does not say. */
uint64_t records_time(const struct record *record);

/* The first record of [at, end) or NULL; `bytes` must have been checked. */
const struct record *records_first(const void *data, size_t bytes);
const struct record *records_next(const struct record *record, const void *end);
/* The record, or the first one behind it that may not be skipped; NULL: there is none. */
const struct record *records_skip(const struct record *record, const void *end);

#endif
