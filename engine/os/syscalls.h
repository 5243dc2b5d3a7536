/* syscalls.h - the target's system calls.
 *
 * SPDX-License-Identifier: MIT
 *
 * syscalls.def describes them all. A handler gets the six arguments and returns what the target
 * finds in rax; SYSCALL_NO_RESULT means that it has set the thread's registers itself;
 * SYSCALL_ABORTED (layout.h) that a signal came first and the call is to be made again after it.
 */
#ifndef ENGINE_OS_SYSCALLS_H
#define ENGINE_OS_SYSCALLS_H

#include "engine/core/thread.h"

#define SYSCALL_NO_RESULT (-10001)

/* The system call instruction at t->cpu.rip; `next` is the address behind it. */
void syscalls_run(struct thread *t, gaddr next);

/* Replay: a call whose handler is all there is to it (REPLAY_SAME). */
long syscalls_again(struct thread *t, long nr, long a[6]);

/* Let the kernel do it, without the baton where it may block. */
long syscalls_pass(struct thread *t, long nr, const long a[6]);

/* The process is about to end or to exec: statistics, the tool's last word. */
void syscalls_finish(void);

#endif
