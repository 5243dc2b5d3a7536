/* look.h - what memory held at moments of a recording, by one replay.
 *
 * SPDX-License-Identifier: MIT
 *
 * For facts that need a few values: a trace has none. Moments are numbers of instructions, and may
 * come in any order.
 */
#ifndef STUDY_LOOK_H
#define STUDY_LOOK_H

#include "study/study.h"

enum { LOOK_BYTES = 8 };

struct look {
    uint64_t insn; /* before this instruction, ... */
    bool behind;   /* ... or when it has been executed */
    gaddr addr;
    uint32_t bytes; /* at most LOOK_BYTES */
    bool known;     /* filled in: all of them could be read, ... */
    uint64_t value; /* ... the lowest address in the lowest byte */
};

/* Fills them in. 0, or -1 with *err set. A trace without its recording knows no values. */
int look_at_all(struct study *s, struct look *list, size_t count, struct err *err);

/* The positions of instructions, whose numbers ascend and are below trace_insns(). */
int look_positions(struct study *s, const uint64_t *insn, size_t count, struct position *out,
                   struct err *err);

#endif
