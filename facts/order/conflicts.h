/* conflicts.h - who touched the words of a trace, so that each access meets those it conflicts
 * with.
 *
 * SPDX-License-Identifier: MIT
 *
 * For each word of 8 bytes the last access of every thread from every place (an instruction, and
 * the user's call that led there) is kept. An access meets those of other threads to the same
 * bytes, if one of the two is a write and nothing orders them. A pair of places is met again only
 * when the earlier one was executed again: a run of accesses by one thread counts once.
 */
#ifndef FACTS_ORDER_CONFLICTS_H
#define FACTS_ORDER_CONFLICTS_H

#include "facts/order/clocks.h"

struct conflicts_access {
    uint64_t insn, count; /* its number; the thread's ticks */
    uint64_t frame;       /* serial number of the frame; 0: none */
    uint64_t caller;      /* that of the frame that made it */
    gaddr cfa;            /* 0: not known */
    uint32_t site;        /* the place, in the caller's numbers */
    uint32_t locks;       /* that the thread holds: of use to the caller */
    uint16_t thread;
    uint8_t mask; /* bytes of the word */
    bool write;
    bool by_kernel; /* of use to the caller */
    bool unset;     /* nobody had written these bytes before */
};

/* Two accesses to bytes of the word at `word`. `before` is what the thread of `now` did last to
 * some of these bytes; NULL: nothing. */
struct conflicts_meeting {
    gaddr word;
    const struct conflicts_access *first, *then, *before;
    bool ordered; /* by the clocks */
};

typedef int conflicts_fn(void *arg, const struct conflicts_meeting *m, struct err *err);

struct conflicts;

struct conflicts *conflicts_new(const struct clocks *clocks, conflicts_fn *fn, void *arg,
                                struct err *err);
void conflicts_free(struct conflicts *c); /* NULL is allowed */

/* The next access to a word, in the order of the execution. *head is the word's, at first 0. */
int conflicts_take(struct conflicts *c, uint32_t *head, gaddr word,
                   const struct conflicts_access *now, struct err *err);

#endif
