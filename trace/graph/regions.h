/* regions.h - what controls what, while a trace is gone through forwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * A branch that takes an edge controls the blocks on the way up the post-dominator tree from where
 * it went; the last branch that controls a block counts. So each frame in which a branch was taken
 * has, for each block of its function, the branch that controls it. What is known of a frame goes
 * when the frame has ended.
 */
#ifndef TRACE_GRAPH_REGIONS_H
#define TRACE_GRAPH_REGIONS_H

#include "trace/graph/control.h"

#define REGIONS_NONE UINT64_MAX

struct regions;

/* The graphs of functions are those of `control`, which outlives it. NULL: no memory. */
struct regions *regions_new(struct control *control);
void regions_free(struct regions *r); /* NULL is allowed */

/* Instruction `insn` at pc, the last of its step, led to `next` in the same frame. */
int regions_went(struct regions *r, struct frame *frame, uint64_t insn, gaddr pc, gaddr next,
                 struct err *err);

/* The branch that controls an instruction at pc in the frame; REGIONS_NONE: what made the frame. */
uint64_t regions_branch(const struct regions *r, const struct frame *frame, gaddr pc);

#endif
