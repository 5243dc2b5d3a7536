/* feasible.h - orders that a run rules out, by what must happen before what and by locks.
 *
 * SPDX-License-Identifier: MIT
 *
 * An order of accesses (idioms.h) need not be tried if no schedule can bring it about. Two rules
 * say so, both on the safe side:
 *
 *  1. Threads are made and end. If all accesses of a later step happened before all of an earlier
 * one by that alone, whichever two threads are the order's, the order cannot come.
 *  2. What comes between two accesses of a thread cannot do so if the thread holds a lock from the
 *     first one to the last each time, and the other thread holds the same lock each time.
 *
 * Locks are known by their addresses, so a verdict is about one run; another one may differ.
 */
#ifndef MAPLE_BRIDGE_FEASIBLE_H
#define MAPLE_BRIDGE_FEASIBLE_H

#include "base/err.h"
#include "facts/order/sync.h"
#include "maple-bridge/agenda.h"

struct feasible;

enum feasible_verdict {
    FEASIBLE_UNKNOWN, /* the run did not come to all of the sites */
    FEASIBLE_YES,
    FEASIBLE_ORDERED, /* rule 1 */
    FEASIBLE_LOCKED,  /* rule 2 */
};

struct feasible *feasible_new(struct study *s, const struct sync *sync, struct err *err);
void feasible_free(struct feasible *f); /* NULL is allowed */

/* The next access to a shared word, in the order of the execution: by the site with that key. -1:
 * no memory. The study is not used after the last one. */
int feasible_touch(struct feasible *f, uint64_t key, uint32_t thread, uint64_t insn);
/* The access that was told last followed one of its thread, at `first` by instruction `insn`. */
int feasible_pair(struct feasible *f, uint64_t first, uint64_t insn, uint64_t then,
                  uint32_t thread);

/* Steps of an order, with the key of each one's site. */
enum feasible_verdict feasible_judge(const struct feasible *f, const struct agenda_step *step,
                                     const uint64_t *key, unsigned steps);

/* Could threads wait for each other's mutexes, by the orders in which the run took them? */
bool feasible_circle(const struct feasible *f);

#endif
