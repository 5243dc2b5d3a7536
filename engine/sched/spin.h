/* spin.h - threads that only wait for others, by looking again and again.
 *
 * SPDX-License-Identifier: MIT
 *
 * Such a thread would use up its whole turn, and nothing happens meanwhile. While others wait for
 * the baton a turn is sampled: seldom, and the more seldom the longer it lasts. A sample that meets
 * an unknown loop has it looked at (look.h); one that meets a known loop compares what the loop
 * reads with the last time. Nothing here changes what the program does, only when its turn ends:
 * always at a tick, as any other turn.
 *
 * Only for recording and `run`: a replay has its switches from the log, some strategies want
 * none of this (schedule.h).
 */
#ifndef ENGINE_SCHED_SPIN_H
#define ENGINE_SCHED_SPIN_H

#include "engine/core/thread.h"

void spin_turn(struct thread *t, bool again); /* its turn begins; again: the last one was spun */
uint64_t spin_budget(const struct thread *t); /* ticks to the next sample */

/* At a tick; `waited`: other threads wait for the baton. Does this one only wait for them? */
bool spin_sample(struct thread *t, bool waited);

/* It gives its turn away for what the last sample found. A thread that rests need not run as long
 * as all that its loop reads is as it was; the baton's lock is held. */
void spin_rest(struct thread *t);
bool spin_rests(const struct thread *t);

/* While STEP_SPIN is set, before every instruction. True: the look is over. */
bool spin_step(struct thread *t, bool at_tick);

/* The target gives its turn away by sched_yield. Has it done nothing else since the last time? */
bool spin_yield(struct thread *t);

void spin_pause(struct thread *t); /* the target executed `pause` ... */
void spin_clock(struct thread *t); /* ... or read a clock */

struct spin_stats {
    uint64_t looks, found;
    uint64_t given, rests; /* turns that a spinning thread gave away; ... and rested after */
};
extern struct spin_stats spin_stats;

#endif
