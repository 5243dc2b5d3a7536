/* baton.h - one thread of the target runs at a time.
 *
 * SPDX-License-Identifier: MIT
 *
 * Whoever holds the baton runs translated code or the runtime's C code; all others are in a
 * blocking system call, wait here, or have not begun. The queue is first come, first served, so a
 * thread that can run does run after at most one time slice of each thread before it. Process-wide
 * state of the engine needs no other lock. A vfork child, which shares the memory, takes part as
 * one more thread.
 */
#ifndef ENGINE_OS_BATON_H
#define ENGINE_OS_BATON_H

#include "engine/core/thread.h"

void baton_acquire(struct thread *t);
/* Gives it away for a blocking call. Returns false, and keeps it, when there is no one else. */
bool baton_release(struct thread *t);
void baton_drop(struct thread *t); /* for good: the thread ends */
void baton_yield_if_due(struct thread *t);
void baton_steal(struct thread *from, struct thread *to); /* from is dead */
void baton_reset(struct thread *only);                    /* in a forked child */
uint64_t baton_quantum(void); /* ticks after which a thread looks whether its slice is over */

#endif
