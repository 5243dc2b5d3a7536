/* look.h - executes a few turns of a loop instruction by instruction, to see whether it only waits.
 *
 * SPDX-License-Identifier: MIT
 *
 * The thread runs in step mode (STEP_SPIN); look_step() is told of every instruction before it is
 * executed and only reads. There is one look at a time, of the thread that has the baton.
 */
#ifndef ENGINE_SCHED_LOOK_H
#define ENGINE_SCHED_LOOK_H

#include "engine/core/thread.h"

enum look_state { LOOK_GOES_ON, LOOK_IN_VAIN, LOOK_SPINS };

/* From the tick that the thread is at, for so many instructions at most. */
void look_begin(struct thread *t, int insns);
/* `at_tick`: a tick led to the thread's pc. After another answer than LOOK_GOES_ON it is over. */
enum look_state look_step(struct thread *t, bool at_tick);
void look_end(void); /* there may be none */
bool look_follows(const struct thread *t);

/* What the loop of the last look that found one waits for: pc, addresses, and the registers that
 * these depend on. */
void look_found(struct spin_loop *loop);

#endif
