/* baton.h - one thread of the target runs at a time.
 *
 * SPDX-License-Identifier: MIT
 *
 * Whoever holds the baton runs translated code or the runtime's C code; all others are in a
 * blocking system call, wait here, or have not begun. A strategy says whose turn is next and how
 * long one lasts (schedule.h); the plain one serves first who came first, so a thread that can run
 * does run after at most one time slice of each thread before it. Process-wide
 * state of the engine needs no other lock. A vfork child, which shares the memory, takes part as
 * one more thread.
 */
#ifndef ENGINE_SCHED_BATON_H
#define ENGINE_SCHED_BATON_H

#include "engine/core/thread.h"

void baton_acquire(struct thread *t);
/* Gives it away for a blocking call. Returns false, and keeps it, when there is no one else. */
bool baton_release(struct thread *t);
void baton_drop(struct thread *t); /* for good: the thread ends */
/* For a process that shares the memory and is no thread of the program: calls `act` if nobody has
 * the baton, and nobody gets it meanwhile. False: somebody has it. */
bool baton_if_idle(void (*act)(void *arg), void *arg);
/* For a thread that spins by giving its turn away: it runs again when the log has room for that. */
void baton_rest(struct thread *t);
void baton_yield_if_due(struct thread *t);
/* As acquire, for the one who knows that `from` is dead, owner or in the queue as it may be. */
void baton_steal(struct thread *from, struct thread *to);
void baton_reset(struct thread *only); /* in a forked child */
void baton_yield(struct thread *t);    /* gives it away now: schedule_end_in() */
void baton_at_call(struct thread *t);  /* for a strategy that looks at system calls: schedule.h */
void baton_pass(struct thread *t);     /* gives it away at a system call, and waits for it */

/* A kernel thread that is none of the program's, and with which nothing of the program runs. It
 * comes before all threads that wait, when the owner's next tick ends its budget or its next call
 * waits. The log is not told. One at a time. */
void baton_guest_enter(struct thread *guest);
void baton_guest_leave(struct thread *guest);
/* From now on this thread alone gets the baton; 0: any. By the owner, or the guest that has it. */
void baton_only(uint32_t number);

/* Is there time for one more switch of a spinning thread, whose turn has lasted so many cycles? */
bool baton_may_switch(uint64_t turn);

struct baton_deadline {
    int64_t ts[2]; /* seconds and nanoseconds of the monotonic clock */
    bool realtime; /* ... of the time of day */
};

/* Gives it away and waits, as a system call that a signal interrupts, until another thread calls
 * baton_make_runnable() and this one's turn has come. A NULL deadline is none. Returns with the
 * baton, and 0, -ETIMEDOUT, -EINTR or SYSCALL_ABORTED, as a futex wait of the kernel would; the
 * owner may have made it runnable even so. */
long baton_park(struct thread *t, const struct baton_deadline *deadline);
void baton_make_runnable(struct thread *parked); /* by the owner */

/* For a controlled schedule, which must not depend on when a new thread's kernel thread comes: the
 * child is in the queue before it is made. It could not be made: baton_forget(). */
void baton_expect(struct thread *child);
void baton_forget(struct thread *child);
size_t baton_queue(struct thread **out, size_t room); /* who waits; by the owner */

#endif
