/* threads.h - threads and processes of the target: creation and end.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_OS_THREADS_H
#define ENGINE_OS_THREADS_H

#include "engine/core/thread.h"

/* A thread's struct with stacks, NULL if there is no memory; the first one is made for the calling
 * kernel thread. */
struct thread *threads_new(void);

/* Is it a side process: one that shares the program's memory and has all else for itself? A vfork
 * child, or what clone(CLONE_VM) made, for which nobody waits (`detached`). */
static inline bool threads_is_side(const struct thread *t)
{
    return t->own_process && t->process == t->own_process;
}

void threads_enter(struct thread *t); /* GS, signal stack: the calling kernel thread becomes t */

/* Replay has no kernel threads: what a thread sees at its begin and end, without one. */
void threads_enter_only(struct thread *t); /* the process's one kernel thread becomes t */
void threads_become(struct thread *t);     /* ... and another one later: GS and FS */
void threads_begin(struct thread *t);
void threads_finish(struct thread *t);
void threads_unlist(struct thread *t);

/* A process that shares the memory is about to end by a signal: it gives the baton away. */
void threads_leave(struct thread *t);
/* It has been killed with the baton in its hands; called by the next owner. */
void threads_killed(struct thread *t);

/* System calls. */
long threads_clone(struct thread *t, long *a);
long threads_clone3(struct thread *t, long *a);
long threads_fork(struct thread *t, long *a);
long threads_vfork(struct thread *t, long *a);
long threads_exit(struct thread *t, long *a);
long threads_exit_group(struct thread *t, long *a);
long threads_set_tid_address(struct thread *t, long *a);
long threads_set_robust_list(struct thread *t, long *a);
long threads_get_robust_list(struct thread *t, long *a);

_Noreturn void threads_child_start(struct thread *t);

#endif
