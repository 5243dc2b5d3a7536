/* diff.h - where two recordings of one program differ: their ways, and what they read.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread matches one that its maker's match made at the same place, as the same one there. Two
 * ways that are the same so far go on together, stretch by stretch, in frames of the same depth.
 * Where they part, both go on to the branch's immediate post-dominator in that frame, or to the
 * frame's end, and are together again. Each event is passed once, so this is linear. What both read
 * while they are together is compared, too.
 */
#ifndef FACTS_DIFF_DIFF_H
#define FACTS_DIFF_DIFF_H

#include "facts/diff/paths.h"

/* One of the two recordings. */
struct diff_side {
    uint32_t thread;    /* as in trace_step.thread */
    size_t event;       /* that they had in common last; SIZE_MAX: none */
    uint64_t insn;      /* its last instruction, ... */
    struct position at; /* ... and where that was; thread 0: not known */
    gaddr to;           /* where it went; 0: its thread ended */
    uint64_t insns;     /* of own code until they were together again */
    bool ended;         /* ... which they never were: the thread ended */
    gaddr addr, cfa;    /* DIFF_VALUE: where it read; its frame, 0 if that is not known */
    uint64_t value;
};

enum diff_kind { DIFF_WAY, DIFF_VALUE };

struct diff_part {
    enum diff_kind kind;
    struct diff_side side[2];
    gaddr branch;   /* or the read: the first recording's address; 0: there was no common event */
    uint32_t depth; /* frames of own code */
    uint8_t bytes;  /* DIFF_VALUE */
    uint64_t times; /* so often in this thread; sums are of all, the rest is of the first */
};

struct diff {
    struct diff_part *part;
    size_t parts;
    uint32_t alone[2]; /* threads that have no match */
    uint64_t together; /* events that both have in common */
    uint64_t values;   /* that were compared */
    uint32_t lost;     /* threads whose values are not known from somewhere on */
    bool cut[2];       /* the recording has more than is compared; its values have */
    bool cut_values[2];
    struct numbers folded; /* threads and addresses of parts */
    size_t *folded_part;   /* by number of these */
    size_t folds, fold_room;
};

int diff_make(struct study *a, struct study *b, struct diff *out, struct err *err);
void diff_deinit(struct diff *d);

/* For the files of facts/diff: adds a part, or adds it to the one of the same kind that the thread
 * has there already, as in a loop. */
int diff_add(struct diff *d, const struct diff_part *p, struct err *err);

#endif
