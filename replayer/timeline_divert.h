/* timeline_divert.h - throw-away copies of a timeline's process, to call functions in.
 *
 * SPDX-License-Identifier: MIT
 *
 * A diversion is a copy of the process at now that may be written and that runs on its own, without
 * the log: one thread, no effects outside. While there is one, timeline_replay() is it. It can be
 * put aside, so that the state is the replay's again; there is at most one that runs and one that
 * is parked. Moves end both.
 */
#ifndef REPLAYER_TIMELINE_DIVERT_H
#define REPLAYER_TIMELINE_DIVERT_H

#include "replayer/timeline.h"

/* A copy of now, unless there is a diversion already. -1 if it cannot be made. */
int timeline_divert(struct timeline *timeline, struct err *err);
bool timeline_diverted(const struct timeline *timeline);
void timeline_divert_end(struct timeline *timeline); /* the parked one, too */

/* Puts the diversion aside, in place of one that is parked. */
void timeline_divert_park(struct timeline *timeline);
/* Takes up the parked one as it was; the other one ends. */
void timeline_divert_unpark(struct timeline *timeline);
void timeline_divert_end_parked(struct timeline *timeline);
/* For the state functions of replay.h; NULL: none is parked. */
struct replay *timeline_divert_parked(struct timeline *timeline);

size_t timeline_write(struct timeline *timeline, uint64_t addr, const void *bytes, size_t n);
int timeline_set_registers(struct timeline *timeline, uint32_t thread,
                           const struct program_registers *registers, struct err *err);
/* Runs the copy's `thread` until a stop (END: it has ended); step: one instruction. */
int timeline_divert_run(struct timeline *timeline, uint32_t thread, bool step,
                        struct debuggee_stop *stop, struct err *err);

#endif
