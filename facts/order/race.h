/* race.h - dependences across threads that nothing orders.
 *
 * SPDX-License-Identifier: MIT
 *
 * A value that one thread wrote and another one read is a race if no synchronisation made the write
 * happen before the read (clocks.h): in another run the read may come first. Where both are plain
 * moves of one word and debug information does not tell its type, it may be an atomic variable,
 * which moves do not tell from others: that is a race perhaps. docs/slicing.md has the rules.
 */
#ifndef FACTS_ORDER_RACE_H
#define FACTS_ORDER_RACE_H

#include "facts/order/clocks.h"

enum race { RACE_NONE, RACE_MAYBE, RACE_CERTAIN };

/* An instruction of a thread (as in trace_step.thread). */
struct race_access {
    uint32_t thread;
    uint64_t insn; /* its number */
    gaddr pc;
    gaddr cfa; /* of the frame it was executed in; 0: not known */
};

/* One wrote `bytes` bytes at addr, and another one read them, or wrote them, too. */
struct race_flow {
    struct race_access write, read;
    gaddr addr;
    uint64_t bytes;
    bool overwrites; /* `read` is a write */
};

/* Finds out what it is, if the read came later; what that needs of the trace is made for the first
 * flow that crosses threads, and kept with the study. */
int race_find(struct study *s, const struct race_flow *flow, enum race *out, struct err *err);

/* What it is if nothing orders the two, whichever came first. race_sync() must have been asked. */
enum race race_judge(struct study *s, const struct race_flow *flow);

/* What both are made from, kept with the study. NULL with *err set. */
const struct sync *race_sync(struct study *s, struct err *err);
const struct clocks *race_clocks(struct study *s, struct err *err);

/* "", "race?" or "race". */
const char *race_name(enum race race);

#endif
