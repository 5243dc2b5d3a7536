/* special.h - system calls that need a little care, and only a little.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_OS_SPECIAL_H
#define ENGINE_OS_SPECIAL_H

#include "engine/core/thread.h"

uint64_t special_now_ns(void); /* monotonic */
void special_init(gaddr vdso); /* the vDSO's clocks are read natively by the runtime */

long syscalls_sigsuspend(struct thread *t, long *a);
long syscalls_ppoll(struct thread *t, long *a);
long syscalls_pselect6(struct thread *t, long *a);
long syscalls_epoll_pwait(struct thread *t, long *a);
long syscalls_kill(struct thread *t, long *a); /* tkill, tgkill too */
long syscalls_arch_prctl(struct thread *t, long *a);
long syscalls_prctl(struct thread *t, long *a);
long syscalls_clock_gettime(struct thread *t, long *a);
long syscalls_gettimeofday(struct thread *t, long *a);
long syscalls_time(struct thread *t, long *a);

#endif
