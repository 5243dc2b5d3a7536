/* seccomp.h - the target's own system call filters, evaluated by the runtime.
 *
 * SPDX-License-Identifier: MIT
 *
 * Installed in the kernel, a filter would also hit the runtime's calls. So it stays here: each
 * system call of the target is run through its thread's chain of filters first. Chains are
 * immutable and shared; a new thread starts with its maker's, a new program with its old thread's
 * (seccomp_pack).
 */
#ifndef ENGINE_OS_SECCOMP_H
#define ENGINE_OS_SECCOMP_H

#include "engine/core/thread.h"

/* True: the call may go on; it is another one, exit, if the filter ends the thread alone. False:
 * *result is the call's (or SYSCALL_NO_RESULT: a signal was raised). */
bool seccomp_allows(struct thread *t, long *nr, long a[6], gaddr next, long *result);

/* The chain as bytes for the next program, and back. seccomp_pack returns the number of bytes, at
 * most size; 0 when there are no filters. */
size_t seccomp_pack(const struct thread *t, void *out, size_t size);
void seccomp_unpack(struct thread *t, const void *bytes, size_t n);
size_t seccomp_packed_bytes(const struct thread *t);

long seccomp_call(struct thread *t, long *a); /* seccomp(2) */
int seccomp_mode(const struct thread *t);     /* as prctl(PR_GET_SECCOMP) tells */

#endif
