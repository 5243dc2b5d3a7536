/* trail.h - what a frame leaves behind while a trace is gone through forwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * The branches of the slice that were executed in it, and who had defined the registers that it
 * saved. Only the latest execution of each branch and where it led is kept: a node that depends on
 * the branch depends on that one. A trail hangs on its frame (frame->own) and goes with it.
 */
#ifndef SLICER_WALK_TRAIL_H
#define SLICER_WALK_TRAIL_H

#include "trace/frames.h"

struct trail_branch {
    uint32_t node;         /* who executed it, as the user numbers them */
    uint32_t newer, older; /* index plus one; 0: none */
    gaddr pc, next;
};

/* The frame's trail, made if there is none yet; NULL: no memory. */
struct trail *trail_of(struct frame *frame);

/* A branch at pc led to `next`. -1: no memory. */
int trail_add(struct trail *t, gaddr pc, gaddr next, uint32_t node);
/* The latest one, and the one before b. NULL: none. A frame without a trail has none. */
const struct trail_branch *trail_latest(const struct frame *frame);
const struct trail_branch *trail_before(const struct frame *frame, const struct trail_branch *b);

/* Which nodes had defined the eight bytes that were saved at addr; NULL: nothing was saved. */
int trail_save(struct trail *t, gaddr addr, const uint32_t by[8]);
const uint32_t *trail_saved(const struct frame *frame, gaddr addr);

#endif
