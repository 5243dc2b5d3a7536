/* schedule.h - how long a turn lasts and whose is next: a strategy.
 *
 * SPDX-License-Identifier: MIT
 *
 * The baton (baton.h) sees to it that one thread runs at a time; a strategy decides which one and
 * for how long. A strategy is a source in this folder that defines `NAME_schedule`, and a row in
 * schedules.def; the engine option `NAME=SEED` chooses it. What it decides is recorded, so a replay
 * needs none of this.
 *
 * `choose` is called with the baton's lock held, everything else with the baton. No strategy may
 * make system calls of the target.
 */
#ifndef ENGINE_SCHED_SCHEDULE_H
#define ENGINE_SCHED_SCHEDULE_H

#include "engine/core/thread.h"

struct insn;
struct probe;

struct schedule {
    const char *name;
    /* The next one of those that wait, linked by baton_next in the order in which they came; NULL
     * if the queue is empty, or all of them rest (spin.h). A controlled one may choose a thread
     * that is asleep, too. */
    struct thread *(*choose)(struct thread *queue);
    /* How long a turn lasts. `quantum`: ticks until `is_over` is asked. `is_over`: at a tick, while
     * others wait; `spins`: the thread only waits for others. */
    uint64_t (*quantum)(void);
    bool (*is_over)(struct thread *t, bool spins);
    /* Before a system call, while others wait: does another thread run first? NULL: never. */
    bool (*at_call)(struct thread *t);
    /* Before an instruction that reads or writes memory, while there are other threads: does
     * another one run first? NULL: never, and no code is emitted that would ask. */
    bool (*at_access)(struct thread *t, const struct probe *p);
    /* Which instructions at_access is asked before; NULL: all that access memory. */
    bool (*looks_at)(const struct insn *in);
    void (*start)(void); /* before the first instruction; NULL: nothing is to be done */
    bool exact;          /* `quantum` is the very tick: no superblock may run past it */
    bool spins;          /* looks for threads that only wait for others: spin.h */
    /* Nothing depends on time: clocks count ticks, and a wait with a time limit ends when the
     * strategy chooses a thread that is in no queue (os/control.h). */
    bool controlled;
};

#define SCHEDULE(name) extern const struct schedule name##_schedule;
#include "engine/sched/schedules.def"
#undef SCHEDULE

extern const struct schedule *schedule; /* the one in force; `plain` at the start */

void schedule_start(void);             /* before the target's first instruction */
bool schedule_use(const char *option); /* "NAME=..."; false: there is none of that name */
void schedule_forked(void);            /* in a child process, which nobody searches */

/* The turn ends in `steps` instructions, which may be between two ticks. */
static inline void schedule_end_in(struct thread *t, uint8_t steps)
{
    t->steps = steps;
    t->step |= STEP_SCHEDULE;
}

#endif
