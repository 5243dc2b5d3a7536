/* signals.h - the target's signals: actions, masks, delivery, return.
 *
 * SPDX-License-Identifier: MIT
 *
 * The runtime, not the kernel, builds the frames that handlers see. Signals with a handler reach
 * the host handler (hostsig.c), which notes one asynchronous signal in t->pending and has the
 * kernel hold back all others; it is delivered at the next tick or system call. Signals without a
 * handler are left to the kernel altogether. Faults are delivered where they happen.
 */
#ifndef ENGINE_OS_SIGNALS_H
#define ENGINE_OS_SIGNALS_H

#include "engine/os/kernel.h"

void signals_init(struct thread *t, uint64_t mask);

/* CLONE_CLEAR_SIGHAND: handlers become the default action, and the child's kernel hears of it. */
void signals_forget_handlers(struct process *p);
void signals_tell_kernel(const struct thread *t);
void signals_host_handlers(void); /* replay: for faults, all that there is */

void signals_deliver_pending(struct thread *t);
/* To its handler, now: for a replay. */
void signals_deliver(struct thread *t, const struct siginfo_raw *info);
void signals_deliver_fault(struct thread *t); /* t->fault, at t->cpu */
void signals_fetch_fault(struct thread *t, gaddr addr);
void signals_illegal(struct thread *t);
/* The same of what this CPU would execute natively, but no translation can. */
void signals_unsupported(struct thread *t);
void signals_protection_fault(struct thread *t);
void signals_stack_fault(struct thread *t);
void signals_misaligned(struct thread *t);
void signals_single_step(struct thread *t);
/* SIGSEGV as for a bad access of the runtime on the target's behalf */
void signals_bad_access(struct thread *t, gaddr addr, bool write);

/* Those that the program's threads never have pending in the kernel: hardware signals, which we
 * never block, and what a debugger's guest takes. While the program blocks them they wait here. */
uint64_t signals_ours(void);
/* Tell the kernel which signals are blocked: the target's mask, or all while one is pending. */
void signals_apply_mask(struct thread *t);
uint64_t signals_block_all(void); /* returns the kernel's mask */
void signals_set_kernel_mask(uint64_t mask);
/* The thread gets the signal as from the kernel, though the kernel holds it back there: see
 * engine.guest_signals. */
enum { SIGNALS_CARRIER = 0x64726462 };
void signals_carry(struct thread *to, const struct siginfo_raw *info);
/* Before execve: what the target ignores, the kernel must know. */
void signals_prepare_exec(struct thread *t);
void signals_abandon_exec(struct thread *t);

void signals_end(struct thread *t, int sig); /* this signal is about to end the process: say so */
void signals_use_default(int sig);           /* in the kernel, which does it */
bool signals_fatal(const struct thread *t, int sig); /* to take it is the end of the process */

/* System calls. */
long signals_sigaction(struct thread *t, long *a);
long signals_sigprocmask(struct thread *t, long *a);
long signals_sigpending(struct thread *t, long *a);
long signals_sigtimedwait(struct thread *t, long *a);
long signals_sigaltstack(struct thread *t, long *a);
long signals_sigreturn(struct thread *t, long *a);

#endif
