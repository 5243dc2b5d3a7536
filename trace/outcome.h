/* outcome.h - which ways some transfers of control went, and how often.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_OUTCOME_H
#define TRACE_OUTCOME_H

#include "trace/trace.h"

/* The instruction at `pc` led to `next`. */
struct outcome {
    gaddr pc, next;
    uint64_t count;
    uint64_t last;      /* the last instruction that did, by its number, and ... */
    struct position at; /* ... where that was */
};

/* The ways of the instructions at these addresses, which are sorted. *out is sorted, too, and to be
 * freed; what was never executed is not in it. */
int outcome_pass(struct trace *trace, const gaddr *pc, size_t n, struct outcome **out,
                 size_t *outcomes, struct err *err);

/* How often the instruction at pc was executed, and the last time; `next` is not told. */
int outcome_executed(struct trace *trace, gaddr pc, struct outcome *out, struct err *err);

#endif
