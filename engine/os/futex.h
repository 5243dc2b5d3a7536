/* futex.h - private futexes of the target.
 *
 * SPDX-License-Identifier: MIT
 *
 * A wait with FUTEX_PRIVATE_FLAG is an entry in a queue of the runtime, and a wake moves the waiter
 * into the baton's queue: the kernel hears of neither. It is entered once, when the baton is handed
 * to a thread that sleeps. Shared futexes stay the kernel's; as in the kernel, the two kinds never
 * meet, whatever memory the word is in.
 *
 * All of this is called with the baton held, and the baton is what keeps the queues consistent.
 */
#ifndef ENGINE_OS_FUTEX_H
#define ENGINE_OS_FUTEX_H

#include "engine/core/thread.h"

long futex_call(struct thread *t, long *a);
/* The calls of newer kernels: waiting is always the kernel's. */
long futex_wait2(struct thread *t, long *a); /* futex_wait, futex_waitv */
long futex_wake2(struct thread *t, long *a);
long futex_requeue2(struct thread *t, long *a);

void futex_forget(struct thread *t); /* t is dead and may have been waiting */
/* The word of a thread that ends is clear: threads that wait for it in the kernel can go on. */
void futex_joined(gaddr word);
void futex_reset(void); /* in a forked child: nobody waits */

/* ---- locks with priority inheritance: futex_pi.c ---- */

struct baton_deadline;

long futex_pi_lock(struct thread *t, gaddr word, const struct baton_deadline *deadline);
long futex_pi_trylock(struct thread *t, gaddr word);
long futex_pi_unlock(struct thread *t, gaddr word);
void futex_pi_disinherit(struct thread *t); /* t is dead and has left its queue */
/* t has ended, or soon will, and may own locks. Writes nothing: a replay knows of no waiters. */
void futex_pi_owner_ends(const struct thread *t);

/* ---- between the sources of this module ---- */

void futex_enter(struct thread *t, gaddr word);
void futex_leave(struct thread *t);
void futex_wake_thread(struct thread *t);
struct thread *futex_first(gaddr word);             /* of its waiters; NULL: none */
struct thread *futex_after(const struct thread *t); /* the next one for the same word */

long futex_check_word(gaddr word); /* 0 or an error */
/* Puts `new` in the place of *old. 0 or -EFAULT; -EAGAIN: *old is now what there is instead. */
long futex_swap(gaddr word, uint32_t *old, uint32_t new);

#endif
