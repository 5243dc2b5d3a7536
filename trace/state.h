/* state.h - registers that the lazy resolver saves and restores all at once.
 *
 * SPDX-License-Identifier: MIT
 *
 * It saves the vector registers with arguments in them (xsave), finds the function, and restores
 * them (xrstor). What goes along with those registers, whatever that is, is kept by the frame in
 * the meantime.
 */
#ifndef TRACE_STATE_H
#define TRACE_STATE_H

#include "trace/frames.h"

/* The locations: vector and mask registers. */
enum { STATE_FIRST = LOC_VEC, STATE_COUNT = LOC_X87 - LOC_VEC };

struct state;

/* Is it an instruction that saves state, or restores it (xrstor, fxrstor)? */
bool state_is(const struct insn *in);
bool state_restores(const struct insn *in);

/* Keeps `bytes` bytes for a frame. False: no memory. *list is NULL at first. */
bool state_keep(struct state **list, const struct frame *frame, const void *data, size_t bytes);
/* Gets them, and they are forgotten. False: nothing was kept. */
bool state_take(struct state **list, const struct frame *frame, void *data, size_t bytes);
void state_free(struct state *list); /* NULL is allowed */

#endif
