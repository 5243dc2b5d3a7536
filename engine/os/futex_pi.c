/* futex_pi.c - private futexes that are locks with priority inheritance.
 *
 * SPDX-License-Identifier: MIT
 *
 * The word is the lock: the owner's thread id, FUTEX_WAITERS from the first time that somebody came
 * in vain, FUTEX_OWNER_DIED. A thread that can lock or unlock by exchanging 0 and its id does so;
 * the others come here. There are no priorities under the baton: first come, first served.
 *
 * Waiters are in the queues of futex.c; futex_owner is the owner of the kernel's pi_state and the
 * same in all waiters for a word. Results, and what is written when, are those of
 * kernel/futex/pi.c in Linux 6.18.
 *  1. A word is written by a call that has it among its effects, so that a recording finds it:
 *     unlock gives the lock to the first waiter, whose own call then has nothing to write.
 *  2. What a waiter writes before it waits, others see before its call returns. It is told to the
 *     session at once.
 *  3. An owner's end is no such call, and a replay does not know the queue. So the first waiter
 *     becomes its heir: it writes the word in its own call, as in the kernel, and stays in the
 *     queue until then, so that nobody takes the lock in between.
 */
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/futex.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"

enum { MUST_WAIT = 1 };

static struct thread *find(uint32_t tid)
{
    struct thread *t = engine.threads;
    while (t && (uint32_t)t->tid != tid)
        t = t->next;
    return t;
}

static void set_owner(gaddr word, struct thread *owner)
{
    for (struct thread *w = futex_first(word); w; w = futex_after(w))
        w->futex_owner = owner;
}

/* ---- locking ---- */

/* There is a waiter already: does the word say what it should? */
static long check_owner(const struct thread *first, uint32_t value)
{
    const struct thread *owner = first->futex_owner;
    uint32_t tid = value & FUTEX_TID_MASK;
    if (!first->futex_pi)
        return -EINVAL;
    if (!owner) /* the heir's turn has not come yet; the kernel's would be running by now */
        return MUST_WAIT;
    bool died = (value & FUTEX_OWNER_DIED) && !tid;
    return died || (uint32_t)owner->tid == tid ? MUST_WAIT : -EINVAL;
}

/* 0: the lock is t's. MUST_WAIT: for *owner. -EAGAIN: the word has changed, once more. */
static long attempt(const struct thread *t, gaddr word, struct thread **owner)
{
    uint32_t value;
    if (!engine_read(&value, word, 4))
        return -EFAULT;
    uint32_t tid = value & FUTEX_TID_MASK;
    if (tid == (uint32_t)t->tid)
        return -EDEADLK;
    const struct thread *first = futex_first(word);
    if (first) {
        *owner = first->futex_owner;
        return check_owner(first, value);
    }
    if (!tid)
        return futex_swap(word, &value, (value & FUTEX_OWNER_DIED) | (uint32_t)t->tid);
    long r = futex_swap(word, &value, value | FUTEX_WAITERS);
    if (r)
        return r;
    *owner = find(tid);
    return *owner ? MUST_WAIT : -ESRCH;
}

static long lock(const struct thread *t, gaddr word, struct thread **owner)
{
    long r = futex_check_word(word);
    if (r)
        return r;
    do
        r = attempt(t, word, owner);
    while (r == -EAGAIN);
    return r;
}

/* Does the owner wait, directly or not, for a lock of t's? */
static bool in_circle(const struct thread *t, const struct thread *owner)
{
    while (owner && owner != t)
        owner = owner->futex_pi ? owner->futex_owner : NULL;
    return owner;
}

static long inherit(struct thread *t)
{
    gaddr word = t->futex_word;
    const uint32_t new = (uint32_t)t->tid | FUTEX_WAITERS | FUTEX_OWNER_DIED;
    uint32_t value;
    long r = -EFAULT;
    if (engine_read(&value, word, 4))
        do
            r = futex_swap(word, &value, new);
        while (r == -EAGAIN);
    futex_leave(t);
    set_owner(word, t);
    return r;
}

long futex_pi_lock(struct thread *t, gaddr word, const struct baton_deadline *deadline)
{
    struct thread *owner;
    long r = lock(t, word, &owner);
    if (r != MUST_WAIT)
        return r;
    if (in_circle(t, owner))
        return -EDEADLK;
    futex_enter(t, word);
    t->futex_pi = true;
    t->futex_owner = owner;
    if (session && session->wrote)
        session->wrote(t, word, 4);
    r = baton_park(t, deadline);
    if (!t->futex_waits)
        return 0;
    if (t->futex_heir)
        return inherit(t);
    futex_leave(t);
    return r == -EINTR ? SYSCALL_ABORTED : r; /* whatever the handler's flags say */
}

long futex_pi_trylock(struct thread *t, gaddr word)
{
    struct thread *owner;
    long r = lock(t, word, &owner);
    return r == MUST_WAIT ? -EAGAIN : r;
}

/* ---- unlocking ---- */

long futex_pi_unlock(struct thread *t, gaddr word)
{
    uint32_t value;
    if (!engine_read(&value, word, 4))
        return -EFAULT;
    if ((value & FUTEX_TID_MASK) != (uint32_t)t->tid)
        return -EPERM;
    long r = futex_check_word(word);
    if (r)
        return r;
    struct thread *next = futex_first(word);
    if (!next)
        return futex_swap(word, &value, 0);
    if (!next->futex_pi || next->futex_owner != t)
        return -EINVAL;
    r = futex_swap(word, &value, (uint32_t)next->tid | FUTEX_WAITERS);
    if (r)
        return r;
    futex_wake_thread(next);
    set_owner(word, next);
    return 0;
}

static void choose_heir(gaddr word)
{
    struct thread *w = futex_first(word);
    while (w && !w->futex_pi)
        w = futex_after(w);
    if (!w)
        return;
    w->futex_heir = true;
    baton_make_runnable(w);
}

void futex_pi_disinherit(struct thread *t)
{
    choose_heir(t->futex_word);
}

void futex_pi_owner_ends(const struct thread *t)
{
    for (struct thread *w = engine.threads; w; w = w->next) {
        if (!w->futex_pi || w->futex_owner != t)
            continue;
        set_owner(w->futex_word, NULL);
        choose_heir(w->futex_word);
    }
}
