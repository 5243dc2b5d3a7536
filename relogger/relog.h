/* relog.h - a recording that replays only what is kept. SPDX-License-Identifier: MIT */
#ifndef RELOGGER_RELOG_H
#define RELOGGER_RELOG_H

#include "base/position.h"
#include "relogger/pieces.h"

struct pinball;
struct text;

/* Shorter gaps run: putting in what they did would take longer (bench/relog). So do those that
 * wrote more than a byte for each RELOG_BYTE instructions. */
enum { RELOG_GAP = 20000, RELOG_BYTE = 4 };

struct relog_options {
    uint64_t gap;                     /* instructions that are worth a gap, at the least */
    const struct position *from, *to; /* the trace's window, as study_options has it */
    const struct text *head;          /* lines for the new recording's head */
    bool output;                      /* as struct leave_options has it */
    void (*message)(void *arg, const char *line);               /* as in replay.h */
    bool (*progress)(void *arg, uint64_t done, uint64_t total); /* true: it is to be given up */
    void *arg;
};

struct relog_result {
    uint64_t insns, kept; /* of the trace; and those that are kept */
    uint64_t gaps, out;   /* and the instructions that are left out by them */
    uint64_t statements;
};

/* Notes which gaps, of at least `gap` instructions, wrote too much to be worth it: behind_run. */
int relog_weigh(struct trace *trace, struct pieces *kept, uint64_t gap, struct err *err);

/* Makes the directory `dir`, which must not be there (err->code EEXIST); it is removed again if
 * something fails. err->code REPLAY_DIVERGED: as in replay.h. */
int relog(struct pinball *pinball, struct trace *trace, const struct pieces *kept, const char *dir,
          const struct relog_options *options, struct relog_result *result, struct err *err);

#endif
