/* ahead.h - chunks of a trace are unpacked before they are asked for.
 *
 * SPDX-License-Identifier: MIT
 *
 * Passes read chunk after chunk, forwards or backwards. A thread of its own reads the next one
 * while they are busy with this one. It begins with the third chunk in a row.
 */
#ifndef TRACE_AHEAD_H
#define TRACE_AHEAD_H

#include "trace/trace.h"

struct trace_ahead;

typedef int trace_ahead_read(void *arg, uint32_t chunk, struct trace_chunk *out, struct err *err);

/* `read` is called by the thread only, with `arg`. NULL: no memory. */
struct trace_ahead *trace_ahead_new(trace_ahead_read *read, void *arg, uint32_t chunks);
void trace_ahead_free(struct trace_ahead *a); /* NULL is allowed */

/* Gives out chunk n if it was read ahead: 1. 0: it was not, the caller reads it. -1: it was, and
 * failed. In any case the thread may go on to what comes next. */
int trace_ahead_take(struct trace_ahead *a, uint32_t n, struct trace_chunk *out, struct err *err);

#endif
