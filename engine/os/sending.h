/* sending.h - signals that the target sends to itself, and hardware signals that wait.
 *
 * SPDX-License-Identifier: MIT
 *
 * A signal whose default action ends the process does so inside the call that sends it, whichever
 * thread is to take it: natively the sender does not come back, and the end has to be noted.
 *
 * SIGSEGV and its kind are never blocked in the kernel, since the runtime needs them. If the target
 * blocks one that somebody sends, it waits here: for a thread that takes it, or until one does.
 */
#ifndef ENGINE_OS_SENDING_H
#define ENGINE_OS_SENDING_H

#include "engine/os/kernel.h"

enum { SENT_BY_TKILL = -6 }; /* si_code */

long sending_kill(struct thread *t, long *a);
long sending_tkill(struct thread *t, long *a);
long sending_tgkill(struct thread *t, long *a);
long sending_sigqueueinfo(struct thread *t, long *a);
long sending_tgsigqueueinfo(struct thread *t, long *a);
long sending_pidfd(struct thread *t, long *a);

/* One of signals_ours() that was sent, and that t blocks. */
void sending_hold(struct thread *t, const struct siginfo_raw *info);
/* Sends those anew that waited for t and that it does not block now. */
void sending_release(struct thread *t);
uint64_t sending_waiting(const struct thread *t); /* those that t would see as pending */
/* Takes one of `set` that waits; false: there is none. */
bool sending_take(struct thread *t, uint64_t set, struct siginfo_raw *info);
/* What came to t as `sig` was meant for another thread: takes what is known about it. */
bool sending_passed_on(struct thread *t, int sig, struct siginfo_raw *info);
/* Whether one that waits is open in t->wait_mask and so ends the call before it waits; it is
 * pending then. */
bool sending_interrupts(struct thread *t);

/* The thread that takes a signal sent to t's process; NULL: all block it. */
struct thread *sending_taker(const struct thread *t, int sig);

#endif
