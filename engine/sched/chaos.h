/* chaos.h - odd schedules, to make rare orders of threads happen.
 *
 * SPDX-License-Identifier: MIT
 *
 * With `--chaos` a thread runs for a few ticks or for many, is taken off before system calls, and
 * the next one is chosen by lot or by a liking for some threads that changes now and then, so that
 * one may be kept waiting while all others run. Every choice comes from one seed; what came of it
 * is in the log, so a replay needs none of this. Needs the baton's lock, or the baton.
 */
#ifndef ENGINE_SCHED_CHAOS_H
#define ENGINE_SCHED_CHAOS_H

#include "engine/core/thread.h"

enum { CHAOS_TICK = 128, CHAOS_CALL = 48 }; /* of 256: how likely a switch is there */

bool chaos_odds(unsigned of_256);
uint64_t chaos_quantum(void); /* ticks */
uint8_t chaos_steps(void);    /* instructions to run before the switch; 0: none */
struct thread *chaos_choose(struct thread *queue); /* NULL for an empty one */

#endif
