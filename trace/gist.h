/* gist.h - what a chunk of a trace does, in short, for walks that pass over it.
 *
 * SPDX-License-Identifier: MIT
 *
 * A walk backwards has nothing to do in a chunk that defines none of the wanted locations and in
 * which no branch is executed that a node waits for. The scan (scan.h) writes down of each chunk
 * what is needed to say so without reading it: the memory that was written, as a few ranges, so
 * that it may be more than was written, never less; and for each thread the registers that may have
 * been defined and the frames in which something was executed.
 */
#ifndef TRACE_GIST_H
#define TRACE_GIST_H

#include "trace/code.h"

/* A thread that executes something in the chunk. */
struct gist_thread {
    uint32_t thread;  /* as in trace_step.thread */
    uint32_t carry;   /* the block where it goes on in the same frame, plus one; 0: elsewhere */
    uint64_t defined; /* classes.h */
    uint64_t lowest;  /* serial of the oldest frame that it executes something in */
};

struct gist_range {
    gaddr addr, last; /* last: the last byte */
};

struct gist {
    bool odd; /* signals, new threads, or notes about what the chunk before executed: read it */
    uint32_t threads, ranges, blocks;
    struct gist_thread *thread;
    struct gist_range *range; /* memory that may have been written; ascending, disjoint */
    uint32_t *block; /* executed in frames that were there when the chunk began; ascending */
};

void gist_deinit(struct gist *g);

/* May some of these bytes have been written? */
bool gist_writes(const struct gist *g, gaddr addr, uint64_t bytes);
/* NULL: it executes nothing. */
const struct gist_thread *gist_thread(const struct gist *g, uint32_t thread);

/* ---- making them ---- */

struct gist_maker;

struct gist_maker *gist_maker_new(const struct code *code, uint32_t threads);
void gist_maker_free(struct gist_maker *m); /* NULL is allowed */

/* What happens in the chunk, in order. `serial` is that of the frame; `stays`: the thread's step
 * before led to this one, in the same frame. */
void gist_step(struct gist_maker *m, uint32_t thread, const struct code_block *b, uint64_t serial,
               bool stays);
void gist_write(struct gist_maker *m, gaddr addr, uint64_t bytes);
void gist_odd(struct gist_maker *m);

/* The chunk is over, when there were so many frames before the next one: at most about `most`
 * ranges. -1: no memory. */
int gist_finish(struct gist_maker *m, uint64_t serials, uint32_t most, struct gist *out);

#endif
