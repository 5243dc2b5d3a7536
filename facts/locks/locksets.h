/* locksets.h - the sets of locks that threads hold, as numbers. SPDX-License-Identifier: MIT
 *
 * A thread's set changes with each event of struct locks. Equal sets have one number; 0 is empty.
 */
#ifndef FACTS_LOCKS_LOCKSETS_H
#define FACTS_LOCKS_LOCKSETS_H

#include "facts/locks/locks.h"
#include "facts/order/numbers.h"

enum { LOCKSETS_MOST = 32 }; /* of one thread at a time that are looked at */

struct locksets_thread {
    gaddr lock[LOCKSETS_MOST]; /* ascending; bit 0: to read */
    unsigned locks;
    uint32_t set;
};

struct locksets {
    const struct locks *locks;
    size_t next; /* event */
    struct locksets_thread *thread;
    struct numbers sets; /* number of the set without its highest lock, that lock */
};

int locksets_init(struct locksets *s, const struct locks *locks, uint32_t threads, struct err *err);
void locksets_deinit(struct locksets *s); /* {0} is allowed */

/* All events before instruction `insn` are over: goes on to there. -1: no memory. */
int locksets_go(struct locksets *s, uint64_t insn);

/* Do both hold a lock of which not both are readers? */
bool locksets_meet(const struct locksets *s, uint32_t a, uint32_t b);

#endif
