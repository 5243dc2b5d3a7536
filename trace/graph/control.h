/* control.h - control dependence, while a trace is walked backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nodes of the slice whose controlling branch has not been met yet wait in their frame, by blocks
 * of the function's graph. A branch that is met looks which of those that wait depend on the edge
 * it took: they are on the way up the post-dominator tree from where it went. A node that still
 * waits when the walk meets the frame's maker depends on the maker.
 */
#ifndef TRACE_GRAPH_CONTROL_H
#define TRACE_GRAPH_CONTROL_H

#include "trace/frames.h"
#include "trace/gist.h"
#include "trace/graph/cfg.h"

struct control;

struct control *control_new(struct cfg *cfg);
void control_free(struct control *c); /* NULL is allowed */

/* The function of a frame. NULL with *err set. */
const struct cfg_function *control_function(struct control *c, gaddr entry, bool *frame_pointer,
                                            struct err *err);

/* An instruction in this block of the function's graph (or CFG_NONE), executed in the frame by
 * thread, is in the slice. */
int control_wait(struct control *c, const struct frame *frame, uint32_t thread, int32_t block,
                 struct err *err);

/* Does anybody wait in a block of the frame? */
bool control_waits(struct control *c, const struct frame *frame);

/* The branch at the end of block `from` led to block `to`, in the same frame. Did somebody wait for
 * that? */
bool control_branch(struct control *c, const struct frame *frame, int32_t from, int32_t to);

/* May a branch or a maker that somebody waits for be executed in a chunk? */
struct control_chunk {
    const struct gist *gist;
    const struct code *code;
    uint64_t insn;          /* its first instruction's number */
    uint64_t before, after; /* serials of the last frames that were made before and in it */
    size_t most;            /* if more frames are waited in, this is not looked into: it may */
};
bool control_may(const struct control *c, const struct control_chunk *chunk);

/* Instruction number `insn` is met: do nodes of a frame that it made wait? They no longer do. */
bool control_maker(struct control *c, uint64_t insn);
/* The same for the root frame of a thread, when its begin is met. */
bool control_root(struct control *c, uint32_t thread);

#endif
