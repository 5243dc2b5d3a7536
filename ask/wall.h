/* wall.h - wall time, as far as a recording has it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Records of some kinds have the time when they were written (pinball/record.h). Between two
 * moments that are known it is taken to pass evenly with ticks. Recordings that were made by an
 * older drdebug have no time at all.
 */
#ifndef ASK_WALL_H
#define ASK_WALL_H

#include <stdbool.h>

#include "base/err.h"
#include "pinball/pinball.h"

struct wall;

struct wall *wall_new(struct pinball *pinball, struct err *err); /* reads the log */
void wall_free(struct wall *w);                                  /* NULL is allowed */

/* A turn: a thread ran from record `first` to record `last`, beginning with `count` ticks of its
 * own and `ticks` of all threads. To be told in their order. */
struct wall_turn {
    uint64_t first, last;
    uint64_t count, ticks;
};
int wall_add(struct wall *w, const struct wall_turn *turn, struct err *err);

/* Nanoseconds since the recording began, of a moment in a turn that was told. False: not known. */
bool wall_at(const struct wall *w, uint64_t ticks, uint64_t *ns);

#endif
