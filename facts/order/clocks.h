/* clocks.h - what happened before what, between the threads of a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * Vector clocks whose unit is the number of an instruction: a thread's clock says of each other
 * thread up to which instruction all that it did happened before. Clocks change only where a thread
 * acquires what another one has released, so what is kept is a list of these changes. Order comes
 * from synchronisation variables (sync.h), from making threads and their end, and from messages: a
 * thread that reads from a pipe, socket or event, or is interrupted by a signal, is behind all
 * threads that have written or sent one; which of them it was is not known.
 */
#ifndef FACTS_ORDER_CLOCKS_H
#define FACTS_ORDER_CLOCKS_H

#include "facts/order/sync.h"

struct clocks;

/* `without`: for each variable, whether it is left out (chance.h); NULL: none is. */
struct clocks *clocks_new(struct study *study, const struct sync *sync, const bool *without,
                          struct err *err);
void clocks_free(struct clocks *c); /* NULL is allowed */

/* An instruction of a thread, by number; the thread as in trace_step.thread. */
struct clocks_point {
    uint32_t thread;
    uint64_t insn;
};

/* Is there an order by which `a`, which was executed earlier, had to be before `b`? */
bool clocks_before(const struct clocks *c, struct clocks_point a, struct clocks_point b);

size_t clocks_changes(const struct clocks *c); /* how many are kept */

#endif
