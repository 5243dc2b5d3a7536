/* copy.h - instructions that only carry bytes from one place to another.
 *
 * SPDX-License-Identifier: MIT
 *
 * An instruction is a copy if each byte that it writes is, unchanged, a byte of its one source:
 * byte k of `to` is byte k of `from`. What lies behind the source's bytes extends it, by zeros or
 * by its sign. A choice between two sources (cmov) is none, nor is a copy over itself.
 */
#ifndef SLICER_WALK_COPY_H
#define SLICER_WALK_COPY_H

#include "trace/forward.h"

struct copy {
    uint64_t to, from;             /* addresses, or locations (enum loc) */
    uint64_t to_bytes, from_bytes; /* from_bytes is not 0, and not more than to_bytes */
    bool to_memory, from_memory;
};

/* False: it is none. */
bool copy_of(const struct forward_at *n, struct copy *out);

/* Where the bytes [*at, *at + *bytes) of `to` come from, as far as they lie there; false: none of
 * them do. */
bool copy_source(const struct copy *c, uint64_t *at, uint64_t *bytes);

#endif
