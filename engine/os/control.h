/* control.h - time and waiting under a controlled schedule.
 *
 * SPDX-License-Identifier: MIT
 *
 * A controlled schedule (sched/schedule.h) decides everything that the kernel's clock decides
 * otherwise. Time is counted in ticks of all threads; a thread that sleeps, or waits with a limit,
 * goes on when the strategy chooses it, and then it is late enough. A call that may wait is tried
 * without waiting; if it would wait, the thread tries again after other threads have made calls,
 * and waits in the kernel only when nobody else can run: then it is the outside that it waits for.
 *
 * Everything here needs the baton.
 */
#ifndef ENGINE_OS_CONTROL_H
#define ENGINE_OS_CONTROL_H

#include "engine/core/thread.h"

struct baton_deadline;

enum { CONTROL_REALTIME = 0, CONTROL_MONOTONIC = 1 };

/* How a call waits: waits.def. */
enum control_wait {
    CONTROL_RETURNS, /* it does not */
    CONTROL_SLEEPS,
    CONTROL_SLEEPS_BY,
    CONTROL_READS,
    CONTROL_WRITES,
    CONTROL_POLLS_MS,
    CONTROL_POLLS_SPEC,
    CONTROL_SELECTS_VAL,
    CONTROL_SELECTS_SPEC,
    CONTROL_CHILD,
    CONTROL_PATH,
    CONTROL_OTHERS,
    CONTROL_YIELDS,
    CONTROL_TIMER,
};
enum control_wait control_wait_of(long nr);

bool control_knows(int clock);     /* is it one of those that count ticks? */
uint64_t control_clock(int clock); /* nanoseconds */
uint64_t control_stamp(void);      /* the time stamp counter */

uint64_t control_elapsed(void); /* since the start, in nanoseconds */
/* When it is, by control_elapsed(); never 0. */
uint64_t control_deadline(const struct baton_deadline *deadline);
void control_reach(uint64_t at); /* it is so late at least */

/* Calls so far that others may have waited for. A thread for which control.tries is set has
 * tried in vain when there were control.tried. */
uint64_t control_calls(void);

/* Makes a call that may wait. False: it is the kernel's to make others wait for it. */
bool control_call(struct thread *t, long nr, const long a[6], long *result);

#endif
