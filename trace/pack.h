/* pack.h - a chunk of a trace as bytes: predicted columns. SPDX-License-Identifier: MIT
 *
 * What comes next is mostly what came last time: the block behind a block, the distance between two
 * values of a slot. A column holds a byte for each of those, zero if so; others hold what is new.
 * Predictions begin anew in each chunk. The code that stores it compresses it.
 */
#ifndef TRACE_PACK_H
#define TRACE_PACK_H

#include "trace/trace.h"

struct trace_pack; /* predictions, and memory for the result */

struct trace_pack *trace_pack_new(void);
void trace_pack_free(struct trace_pack *p); /* NULL is allowed */

/* The bytes of a chunk, valid until the next call; NULL with *err set. */
const void *trace_pack(struct trace_pack *p, const struct trace_chunk *c, const struct code *code,
                       size_t *bytes, struct err *err);
/* And back, without values if these are not wanted: they are most of the work. The bytes may be
 * anything: -1 with *err set. */
int trace_unpack(struct trace_pack *p, const void *data, size_t bytes, const struct code *code,
                 bool values, struct trace_chunk *out, struct err *err);

#endif
