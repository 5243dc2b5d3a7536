/* pieces.h - which executed instructions are kept, by statements.
 *
 * SPDX-License-Identifier: MIT
 *
 * A statement is a maximal run of instructions of one frame with one file and line; those of calls
 * that it makes are not counted. It is kept if an instruction of it is wanted; without source the
 * instruction is. A *piece* is a part of a statement between which and the next nothing else was
 * executed: numbers of instructions that follow each other. docs/internals/relogger.md.
 */
#ifndef RELOGGER_PIECES_H
#define RELOGGER_PIECES_H

#include <stdio.h>

#include "base/err.h"
#include "trace/trace.h"

struct exclude;
struct stretches;
struct slice;
struct study;

struct piece {
    uint64_t first, insns; /* instructions of the trace */
    uint32_t depth;        /* of calls: 1 is a thread's first function */
    uint16_t goes_on;      /* 1: the statement was begun before */
    uint16_t behind_run;   /* 1: what is left out before it runs, however long it is */
};

struct pieces {
    struct piece *piece; /* by `first`; none overlaps another */
    size_t pieces, room;
    uint64_t insns; /* of all of them */
};

struct pieces_rule {
    const struct slice *slice; /* keep what has nodes of it; NULL: everything, ... */
    struct exclude *exclude;   /* ... but this; NULL: nothing */
    struct stretches *regions; /* ... and these; NULL: none */
};

/* All pieces; the trace's last instruction is one of them in any case. */
int pieces_find(struct study *s, const struct pieces_rule *rule, struct pieces *out,
                struct err *err);
void pieces_deinit(struct pieces *list);

/* What lies between the piece and the one before is to be left out in a gap. */
static inline bool piece_behind_gap(const struct piece *p, uint64_t gap)
{
    const uint64_t out = p->first - (p[-1].first + p[-1].insns);
    return out && out >= gap && !p->behind_run;
}

/* Numbers of instructions in a trace of the new recording, in which each gap of at least `gap`
 * instructions is one. */
struct pieces_moved {
    const struct pieces *pieces;
    uint64_t gap;
    uint64_t *begin; /* of each piece */
    uint64_t total;
};
int pieces_move(struct pieces_moved *m, const struct pieces *pieces, uint64_t gap, struct err *err);
void pieces_moved_deinit(struct pieces_moved *m);
/* *gone: it is left out, and this is the number of what stands for it. As struct saved_move has it.
 */
uint64_t pieces_moved(const void *m, uint64_t insn, bool *gone);

/* Through a file: the process that reads debug information may be confined, and is not trusted
 * then.
 */
int pieces_write(const struct pieces *list, int fd, struct err *err);
int pieces_read(int fd, const struct trace *trace, struct pieces *out, struct err *err);

#endif
