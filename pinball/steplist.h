/* steplist.h - the list of kept statements, packed.
 *
 * SPDX-License-Identifier: MIT
 *
 * Without source each kept instruction is a statement, so there may be as many as were executed;
 * but nearly all follow one another in few ways. A *way* leads from the code of a thread's last
 * statement to the next: its code, and how much further the thread counts. It is written out when
 * it is taken first, and has a number of one byte from then on. docs/pinball.md, "STEPS".
 *
 * The same bytes are in a recording and in memory. Any statement can be had: every STEPLIST_MARK
 * statements it is noted where all threads are.
 */
#ifndef PINBALL_STEPLIST_H
#define PINBALL_STEPLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pinball/record_gap.h"

enum { STEPLIST_MARK = 4096 };

struct steplist;

struct steplist *steplist_new(void);    /* NULL: no memory */
void steplist_free(struct steplist *l); /* NULL is allowed */

/* One more, in the order of their execution. -1: no memory. */
int steplist_add(struct steplist *l, const struct kept_statement *s);
/* Packed bytes, which may be anybody's, behind the others. -1: no memory. */
int steplist_put(struct steplist *l, const uint8_t *bytes, size_t count);
/* When all are there: reads a part of them. 1: there are more; 0: that was all; -1: no list. */
int steplist_read(struct steplist *l, struct err *err);

size_t steplist_count(const struct steplist *l);
const uint8_t *steplist_packed(const struct steplist *l, size_t *count);
/* What a stranger's list costs: bytes that it holds, and statements, which take time. */
size_t steplist_memory(const struct steplist *l);

/* The statement number i, which is there. */
void steplist_get(const struct steplist *l, size_t i, struct kept_statement *out);
/* The i-th place that statements begin at, in no order that matters, and the last pc that one of
 * them has before the thread ticks. False: there are fewer. */
bool steplist_place(const struct steplist *l, size_t i, uint64_t *first, uint64_t *last);
/* The last one of the thread that does not begin behind this place. False: none does. */
bool steplist_last(const struct steplist *l, uint32_t thread, uint64_t count, uint64_t pc,
                   size_t *i, struct kept_statement *out);

#endif
