/* number.h - which instruction of a trace a position is. SPDX-License-Identifier: MIT
 *
 * By the trace alone: a few chunks are read, and nothing of slices is needed.
 */
#ifndef TRACE_NUMBER_H
#define TRACE_NUMBER_H

#include "trace/trace.h"

/* The last chunk that can be seen not to begin behind the position. */
int number_chunk(struct trace *trace, const struct position *at, uint32_t *chunk, struct err *err);

/* How many instructions, of all threads, were executed before the one there: 1 with *number; 0: the
 * trace does not have it, -1. */
int number_find(struct trace *trace, const struct position *at, uint64_t *number, struct err *err);

#endif
