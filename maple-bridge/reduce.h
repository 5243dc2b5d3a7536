/* reduce.h - why a run failed: its schedule with as few switches as do, and the pair of accesses
 * whose order decides.
 *
 * SPDX-License-Identifier: MIT
 *
 * Switches are left out, many at first, then one by one, as long as the program fails in the same
 * way (delta debugging). Each one that is left is needed. If two runs of the whole schedule differ,
 * each trial is made up to three times, and a switch stays if none of them fails without it. The
 * critical pair is a conflict: an access of a thread that was taken off right before it, and the
 * last one of another thread that came in between. A run without that switch is made, and passes;
 * pairs that come in the other order there are the first ones. Where the run ended before the
 * thread came back, its access is the passing run's.
 */
#ifndef MAPLE_BRIDGE_REDUCE_H
#define MAPLE_BRIDGE_REDUCE_H

#include "base/position.h"
#include "maple-bridge/crew.h"
#include "maple-bridge/failures.h"
#include "maple-bridge/scout.h"

enum {
    REDUCE_PAIRS = 3,
    REDUCE_PAUSES = 8,
    REDUCE_STACK = 8,
    REDUCE_NAME = 256,
    REDUCE_VALUE = 80,
    REDUCE_STORY = 1024,
    REDUCE_LOCKS = 4,
};

/* A lock that a thread held, and where it had taken it. */
struct reduce_lock {
    char name[REDUCE_VALUE];
    char place[SCOUT_PLACE];
};

struct reduce_access {
    uint32_t thread;
    bool write;
    uint64_t addr;
    uint32_t bytes;
    struct position at;
    uint32_t trail; /* its number in agenda_done.trail */
    uint16_t site;
    bool absent; /* the run ended before it came; it is the passing run's */
    char place[SCOUT_PLACE];
    char value[REDUCE_VALUE];              /* that it read or left; empty: not known */
    char stack[REDUCE_STACK][SCOUT_PLACE]; /* of its calls, from the inside out */
    uint32_t frames;
    struct reduce_lock lock[REDUCE_LOCKS]; /* that its thread held */
    uint32_t locks;
};

struct reduce_pair {
    struct reduce_access first, then;
    struct reduce_access
        before;               /* what then's thread did there before `first`; thread 0: nothing */
    char name[REDUCE_NAME];   /* of what they access; empty: not known */
    char story[REDUCE_STORY]; /* what kind of bug it is; empty: no kind that is known */
};

/* Where a thread stood when it was taken off, and where it was at its event before that: the calls
 * of the user's own code, from the inside out. */
struct reduce_pause {
    uint32_t thread, next;
    uint32_t trail; /* number of the access that came first while it was off */
    uint32_t event; /* ... and of the thread's own before; REDUCE_NO_EVENT: none */
    char stack[REDUCE_STACK][SCOUT_PLACE], last[REDUCE_STACK][SCOUT_PLACE];
    uint32_t frames, lasts;
};

#define REDUCE_NO_EVENT UINT32_MAX

struct reduced {
    uint64_t runs;          /* that it took */
    uint32_t before, after; /* switches */
    bool failed;            /* the schedule did not bring the failure back */
    uint32_t pairs;
    struct reduce_pair pair[REDUCE_PAIRS];
    uint32_t pauses; /* of the switches that are left: the last ones */
    struct reduce_pause pause[REDUCE_PAUSES];
    struct agenda_switch *list; /* the switches that are left: to be freed */
    bool passes;                /* without one of them, this one: */
    uint32_t moved;
    bool adds; /* it fails with none, and passes with this one: */
    struct agenda_switch added;
    char dir[PATH_MAX]; /* a pinball of the run with these; empty: none */
};

struct reduce_job {
    struct crew *crew;
    const struct scout *scout;
    const struct failure *failure;  /* what is to be the same */
    const struct agenda_done *done; /* of the run that failed, with its log */
    uint64_t cpu_ns;
    volatile int *stop;
};

int reduce_run(const struct reduce_job *job, struct reduced *out, struct err *err);
/* Runs the switches that are left without number `leave_out`; the pinball stays where crew_place()
 * of worker 0 says. */
int reduce_passing(const struct reduce_job *job, const struct reduced *r, struct crew_outcome *out,
                   struct err *err);

#endif
