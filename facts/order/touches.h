/* touches.h - one pass over all memory accesses of a trace, from when there are several threads.
 *
 * SPDX-License-Identifier: MIT
 *
 * Told are those of instructions, without the stack's own (brief.h), and those that notes tell:
 * what system calls read and wrote. Frames that were made before the pass begins are not known.
 */
#ifndef FACTS_ORDER_TOUCHES_H
#define FACTS_ORDER_TOUCHES_H

#include "study/study.h"
#include "trace/pass.h"

struct touches_one {
    gaddr addr;
    uint64_t bytes;
    bool write;
    bool noted;    /* a note tells of it: a system call */
    bool renews;   /* it was mapped or unmapped: what was there before is gone */
    unsigned insn; /* of the step's block */
};

/* Not 0, which is -1 with *err set, ends the pass. `step` and `note` may be NULL; they are told
 * before the accesses of the same step or note. */
struct touches_visitor {
    int (*touch)(void *arg, const struct pass_step *st, const struct touches_one *t,
                 struct err *err);
    int (*step)(void *arg, const struct pass_step *st, struct err *err);
    int (*note)(void *arg, const struct pass *p, struct err *err);
    void *arg;
};

int touches_pass(struct study *s, uint32_t first_chunk, const struct touches_visitor *v,
                 struct err *err);

#endif
