/* entries.h - what a program did, told by a plain replay. SPDX-License-Identifier: MIT */
#ifndef ASK_ENTRIES_H
#define ASK_ENTRIES_H

#include "ask/question.h"
#include "debug/debuggee.h"
#include "debug/messages.h"
#include "study/past.h"

/* 0: go on; 1: enough; -1 with *err set. The event is good until it returns. */
typedef int entries_fn(void *arg, const struct debuggee_event *event, struct err *err);

struct entries_options {
    uint64_t tell; /* RUN_OUTPUT, RUN_EVENTS, RUN_SWITCHES */
    entries_fn *fn;
    /* Before the first instruction, and where the replay stopped: at the end, or when the user
     * interrupted it, but not when `fn` had enough; may be NULL. */
    int (*begin)(void *arg, struct past *past, struct err *err);
    int (*end)(void *arg, struct past *past, const struct replay_stop *stop, struct err *err);
    void *arg;
};

/* Replays the recording once, and tells events as they come, until the end, or until there are
 * enough, or the user interrupts. 0; 1: there may be more; -1. */
int entries_replay(struct asking *q, const struct entries_options *o, struct err *err);

/* How many ticks of all threads have happened at a position. */
int entries_ticks(struct asking *q, const struct position *at, uint64_t *out, struct err *err);

#endif
