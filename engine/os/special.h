/* special.h - system calls that need a little care, and only a little.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_OS_SPECIAL_H
#define ENGINE_OS_SPECIAL_H

#include "engine/core/thread.h"

uint64_t special_now_ns(void); /* monotonic */
void special_init(gaddr vdso); /* the vDSO's clocks are read natively by the runtime */

long special_sigsuspend(struct thread *t, long *a);
long special_ppoll(struct thread *t, long *a);
long special_pselect6(struct thread *t, long *a);
long special_sched_yield(struct thread *t, long *a);
long special_epoll_pwait(struct thread *t, long *a);
long special_forbidden(struct thread *t,
                       long *a); /* as where the administrator does not allow it */
long special_arch_prctl(struct thread *t, long *a);
long special_prctl(struct thread *t, long *a);
long special_clock_gettime(struct thread *t, long *a);
long special_gettimeofday(struct thread *t, long *a);
long special_time(struct thread *t, long *a);

#endif
