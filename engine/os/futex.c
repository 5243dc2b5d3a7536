/* futex.c - private futexes of the target.
 *
 * SPDX-License-Identifier: MIT
 *
 * Waiters are kept in buckets by the address of their word, first come, first served.
 *  1. Only the owner of the baton touches the queues. A waiter whose time is up or that has got a
 *     signal asks for the baton first and leaves its queue when it has it.
 *  2. So it may be woken in between. It was woken then, whatever made it get up: the wake-up has
 *     been counted and must not be lost. A signal is delivered after the call.
 *  3. futex_waits is cleared by the one who wakes: it tells the waiter which of both happened.
 *
 * Results and their order are those of kernel/futex/ in Linux 6.18: a wake of 0 or fewer wakes one,
 * a wake asks for no readable word, a requeue to the same word keeps the order.
 */
#include "engine/os/futex.h"

#include "engine/core/engine.h"
#include "engine/os/control.h"
#include "engine/os/maps.h"
#include "engine/os/special.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"

enum { BUCKETS = 256, NS_PER_S = 1000000000 };

static struct bucket {
    struct thread *head, *tail;
} buckets[BUCKETS];

/* The target has used futex_waitv or futex_wait: private waiters may be in the kernel, too. */
static bool kernel_waits;

/* ---- queues ---- */

static struct bucket *bucket_of(gaddr word)
{
    return &buckets[(word >> 2 ^ word >> 10 ^ word >> 18) % BUCKETS];
}

void futex_enter(struct thread *t, gaddr word)
{
    struct bucket *b = bucket_of(word);
    t->futex_word = word;
    t->futex_waits = true;
    t->futex_next = NULL;
    t->futex_prev = b->tail;
    *(b->tail ? &b->tail->futex_next : &b->head) = t;
    b->tail = t;
}

void futex_leave(struct thread *t)
{
    struct bucket *b = bucket_of(t->futex_word);
    *(t->futex_prev ? &t->futex_prev->futex_next : &b->head) = t->futex_next;
    *(t->futex_next ? &t->futex_next->futex_prev : &b->tail) = t->futex_prev;
    t->futex_waits = t->futex_pi = t->futex_heir = false;
}

/* The first waiter for the word from `t` on. */
static struct thread *waiter(struct thread *t, gaddr word)
{
    while (t && t->futex_word != word)
        t = t->futex_next;
    return t;
}

struct thread *futex_first(gaddr word)
{
    return waiter(bucket_of(word)->head, word);
}

struct thread *futex_after(const struct thread *t)
{
    return waiter(t->futex_next, t->futex_word);
}

void futex_wake_thread(struct thread *t)
{
    futex_leave(t);
    baton_make_runnable(t);
}

void futex_forget(struct thread *t)
{
    bool heir = t->futex_heir;
    if (t->futex_waits)
        futex_leave(t);
    if (heir)
        futex_pi_disinherit(t);
    futex_pi_owner_ends(t);
}

void futex_reset(void)
{
    for (int i = 0; i < BUCKETS; i++)
        buckets[i] = (struct bucket){NULL, NULL};
}

/* ---- operations ---- */

void futex_joined(gaddr word)
{
    for (struct thread *o = engine.threads; o; o = o->next)
        if (o->futex_joins == word)
            o->baton_parked = false;
    for (struct thread *w; schedule->controlled && (w = futex_first(word));)
        futex_wake_thread(w);
}

long futex_check_word(gaddr word)
{
    return word & 3 ? -EINVAL : word > MAPS_USER_TOP ? -EFAULT : 0;
}

static long wake(gaddr word, int32_t count, uint32_t bits)
{
    long woken = 0;
    for (struct thread *w = futex_first(word), *next; w; w = next) {
        next = futex_after(w);
        if (w->futex_pi)
            return -EINVAL;
        if (!(w->futex_bits & bits))
            continue;
        futex_wake_thread(w);
        if (++woken >= count)
            return woken;
    }
    if (!kernel_waits)
        return woken;
    long more = sys6(__NR_futex, (long)word, FUTEX_WAKE_BITSET_PRIVATE, count - woken, 0, 0, bits);
    return more > 0 ? woken + more : woken;
}

static long wake_call(gaddr word, int32_t count, uint32_t bits)
{
    long r = bits ? futex_check_word(word) : -EINVAL;
    return r ? r : wake(word, count, bits);
}

/* What the words of a call must be in any case, for requeue and wake_op. */
static long check_both(gaddr word, gaddr word2)
{
    long r = futex_check_word(word);
    return r ? r : futex_check_word(word2);
}

struct requeue {
    gaddr from, to;
    int32_t wake, move;
    const uint32_t *expected; /* at `from`, or NULL */
};

static long move(const struct requeue *q)
{
    long done = 0;
    for (struct thread *w = futex_first(q->from), *next; w; w = next) {
        if (done - q->wake >= q->move)
            break;
        if (w->futex_pi)
            return -EINVAL;
        next = futex_after(w);
        if (++done <= q->wake) {
            futex_wake_thread(w);
        } else if (q->from != q->to) {
            futex_leave(w);
            futex_enter(w, q->to);
        }
    }
    return done;
}

static long requeue(const struct requeue *q)
{
    uint32_t value;
    if (q->wake < 0 || q->move < 0)
        return -EINVAL;
    long r = check_both(q->from, q->to);
    if (r)
        return r;
    if (q->expected && !engine_read(&value, q->from, 4))
        return -EFAULT;
    if (q->expected && value != *q->expected)
        return -EAGAIN;
    long done = move(q);
    if (done < 0 || !kernel_waits)
        return done;
    long wake_left = done < q->wake ? q->wake - done : 0;
    long move_left = q->move - (done > q->wake ? done - q->wake : 0);
    long more = sys6(__NR_futex, (long)q->from, FUTEX_REQUEUE_PRIVATE, wake_left, move_left,
                     (long)q->to, 0);
    return more > 0 ? done + more : done;
}

static long requeue_call(const long *a, bool compares)
{
    const uint32_t expected = (uint32_t)a[5];
    return requeue(&(struct requeue){.from = (gaddr)a[0],
                                     .to = (gaddr)a[4],
                                     .wake = (int32_t)a[2],
                                     .move = (int32_t)a[3],
                                     .expected = compares ? &expected : NULL});
}

static int32_t sign_extend12(uint32_t v)
{
    return (int32_t)(v << 20) >> 20;
}

static bool operate(uint32_t op, uint32_t arg, uint32_t old, uint32_t *new)
{
    switch (op) {
    case FUTEX_OP_SET:
        *new = arg;
        return true;
    case FUTEX_OP_ADD:
        *new = old + arg;
        return true;
    case FUTEX_OP_OR:
        *new = old | arg;
        return true;
    case FUTEX_OP_ANDN:
        *new = old & ~arg;
        return true;
    case FUTEX_OP_XOR:
        *new = old ^ arg;
        return true;
    default:
        return false;
    }
}

/* 0 or 1: the comparison's outcome. */
static long compare(uint32_t how, int32_t old, int32_t arg)
{
    switch (how) {
    case FUTEX_OP_CMP_EQ:
        return old == arg;
    case FUTEX_OP_CMP_NE:
        return old != arg;
    case FUTEX_OP_CMP_LT:
        return old < arg;
    case FUTEX_OP_CMP_GE:
        return old >= arg;
    case FUTEX_OP_CMP_LE:
        return old <= arg;
    case FUTEX_OP_CMP_GT:
        return old > arg;
    default:
        return -ENOSYS;
    }
}

long futex_swap(gaddr word, uint32_t *old, uint32_t new)
{
    for (;;) {
        uint32_t seen = *old;
        if (!engine_cas((void *)word, &seen, new)) {
            bool same = seen == *old;
            *old = seen;
            return same ? 0 : -EAGAIN;
        }
        if (!maps_write_fault(word))
            return -EFAULT;
    }
}

/* The read, change and comparison of wake_op. Other processes may change the word meanwhile. */
static long change_word(gaddr word, uint32_t encoded)
{
    uint32_t op = encoded >> 28 & 7, old, new;
    int32_t arg = sign_extend12(encoded >> 12);
    if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT)
        arg = (int32_t)(1u << (arg & 31));
    if (!operate(op, (uint32_t)arg, 0, &new))
        return -ENOSYS;
    if (!engine_read(&old, word, 4))
        return -EFAULT;
    long r;
    do {
        operate(op, (uint32_t)arg, old, &new);
        r = futex_swap(word, &old, new);
    } while (r == -EAGAIN);
    if (r)
        return r;
    return compare(encoded >> 24 & 15, (int32_t)old, sign_extend12(encoded));
}

static long wake_op(const long *a)
{
    gaddr word = (gaddr)a[0], word2 = (gaddr)a[4];
    long r = check_both(word, word2);
    if (r)
        return r;
    long both = change_word(word2, (uint32_t)a[5]);
    if (both < 0)
        return both;
    r = wake(word, (int32_t)a[2], ~0u);
    if (r < 0 || !both)
        return r;
    long more = wake(word2, (int32_t)a[3], ~0u);
    return more < 0 ? more : r + more;
}

/* ---- waiting ---- */

/* Reads a time-out and makes it absolute, so that an interruption does not prolong the wait. */
static long read_deadline(struct baton_deadline *d, gaddr at, bool relative)
{
    if (!engine_read(d->ts, at, sizeof d->ts))
        return -EFAULT;
    if (d->ts[0] < 0 || (uint64_t)d->ts[1] >= NS_PER_S)
        return -EINVAL;
    if (!relative)
        return 0;
    uint64_t now = schedule->controlled ? control_clock(CONTROL_MONOTONIC) : special_now_ns(),
             ns = now % NS_PER_S + (uint64_t)d->ts[1];
    const int64_t for_ever = INT64_MAX / 2;
    d->ts[0] = d->ts[0] < for_ever ? d->ts[0] : for_ever;
    d->ts[0] += (int64_t)(now / NS_PER_S + ns / NS_PER_S);
    d->ts[1] = (int64_t)(ns % NS_PER_S);
    return 0;
}

static long wait(struct thread *t, const long *a, uint32_t bits, bool relative)
{
    gaddr word = (gaddr)a[0];
    struct baton_deadline deadline = {.realtime = a[1] & FUTEX_CLOCK_REALTIME};
    uint32_t value;
    long r = a[3] ? read_deadline(&deadline, (gaddr)a[3], relative) : 0;
    if (!r)
        r = bits ? futex_check_word(word) : -EINVAL;
    if (r)
        return r;
    if (!engine_read(&value, word, 4))
        return -EFAULT;
    if (value != (uint32_t)a[2])
        return -EAGAIN;
    t->futex_bits = bits;
    futex_enter(t, word);
    r = baton_park(t, a[3] ? &deadline : NULL);
    if (!t->futex_waits)
        return 0;
    futex_leave(t);
    return r;
}

static long lock_pi(struct thread *t, const long *a, bool realtime)
{
    struct baton_deadline deadline = {.realtime = realtime};
    long r = a[3] ? read_deadline(&deadline, (gaddr)a[3], false) : 0;
    return r ? r : futex_pi_lock(t, (gaddr)a[0], a[3] ? &deadline : NULL);
}

/* Condition variables were once made of this; a lock that is nobody's call would be written. */
static long requeue_pi(const struct thread *t, int32_t op)
{
    static bool told;
    if (!told)
        rt_say("futex 0x%x: not supported (pc 0x%lx)", (uint32_t)op, t->cpu.rip);
    told = true;
    return -ENOSYS;
}

/* The kernel's own futexes. */
static long pass(struct thread *t, const long *a)
{
    long r = syscalls_pass(t, __NR_futex, a);
    return r == -EFAULT && maps_open_all() ? syscalls_pass(t, __NR_futex, a) : r;
}

/* pthread_join() waits in the kernel for the word that is cleared at the thread's end. */
static long pass_or_join(struct thread *t, const long *a)
{
    int32_t command = (int32_t)a[1] & FUTEX_CMD_MASK;
    bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET, joins = false;
    for (const struct thread *o = engine.threads; waits && o; o = o->next)
        joins |= o->clear_tid == (gaddr)a[0] && !threads_is_side(o);
    uint32_t value = (uint32_t)a[2];
    if (waits && schedule->controlled && !t->attached) {
        if (joins)
            return wait(t, a, ~0u, command == FUTEX_WAIT);
        if (engine_read(&value, (gaddr)a[0], 4) && value != (uint32_t)a[2])
            return -EAGAIN; /* it has ended: the kernel need not be asked */
    }
    t->baton_parked = joins && !a[3];
    t->futex_joins = (gaddr)a[0];
    long r = pass(t, a);
    t->baton_parked = false;
    t->futex_joins = 0;
    return r;
}

long futex_call(struct thread *t, long *a)
{
    int32_t op = (int32_t)a[1], command = op & FUTEX_CMD_MASK;
    if (!(op & FUTEX_PRIVATE_FLAG))
        return pass_or_join(t, a);
    if ((op & FUTEX_CLOCK_REALTIME) && command != FUTEX_WAIT_BITSET && command != FUTEX_LOCK_PI2 &&
        command != FUTEX_WAIT_REQUEUE_PI)
        return pass(t, a); /* its error */
    switch (command) {
    case FUTEX_WAIT:
        /* With others stopped by ptrace it keeps the baton, and nobody can wake it. */
        return t->attached ? pass(t, a) : wait(t, a, ~0u, true);
    case FUTEX_WAIT_BITSET:
        return t->attached ? pass(t, a) : wait(t, a, (uint32_t)a[5], false);
    case FUTEX_WAKE:
        return wake_call((gaddr)a[0], (int32_t)a[2], ~0u);
    case FUTEX_WAKE_BITSET:
        return wake_call((gaddr)a[0], (int32_t)a[2], (uint32_t)a[5]);
    case FUTEX_REQUEUE:
        return requeue_call(a, false);
    case FUTEX_CMP_REQUEUE:
        return requeue_call(a, true);
    case FUTEX_WAKE_OP:
        return wake_op(a);
    case FUTEX_LOCK_PI:
        return t->attached ? pass(t, a) : lock_pi(t, a, true);
    case FUTEX_LOCK_PI2:
        return t->attached ? pass(t, a) : lock_pi(t, a, op & FUTEX_CLOCK_REALTIME);
    case FUTEX_TRYLOCK_PI:
        return futex_pi_trylock(t, (gaddr)a[0]);
    case FUTEX_UNLOCK_PI:
        return futex_pi_unlock(t, (gaddr)a[0]);
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_CMP_REQUEUE_PI:
        return requeue_pi(t, op);
    default:
        return pass(t, a);
    }
}

/* ---- the calls of newer kernels ---- */

enum { FUTEX_WAKE_NR = 454, FUTEX_REQUEUE_NR = 456 };
enum { FLAGS2_PRIVATE_U32 = 0x82, FLAGS2_SEEN = 0x83 }; /* FUTEX2_PRIVATE, FUTEX2_SIZE_U32 */

long futex_wait2(struct thread *t, long *a)
{
    kernel_waits = true;
    return syscalls_pass(t, (int32_t)t->cpu.gpr[RAX], a);
}

/* (word, bits, count, flags) */
long futex_wake2(struct thread *t, long *a)
{
    const long none[6] = {a[0], a[1], 0, a[3]};
    if ((a[3] & FLAGS2_SEEN) != FLAGS2_PRIVATE_U32)
        return syscalls_pass(t, FUTEX_WAKE_NR, a);
    long r = syscalls_pass(t, FUTEX_WAKE_NR, none); /* 0, or its error */
    return r || !(int32_t)a[2] ? r : wake((gaddr)a[0], (int32_t)a[2], (uint32_t)a[1]);
}

/* (waiters[2], flags, wake, move). Only between private words of 32 bits are there waiters here. */
long futex_requeue2(struct thread *t, long *a)
{
    struct {
        uint64_t value, word;
        uint32_t flags, reserved;
    } w[2];
    const long none[6] = {a[0], a[1], 0, 0};
    if (!engine_read(w, (gaddr)a[0], sizeof w) ||
        (w[0].flags & w[1].flags & FLAGS2_SEEN) != FLAGS2_PRIVATE_U32)
        return syscalls_pass(t, FUTEX_REQUEUE_NR, a);
    long r = syscalls_pass(t, FUTEX_REQUEUE_NR, none);
    const uint32_t expected = (uint32_t)w[0].value;
    return r ? r
             : requeue(&(struct requeue){.from = w[0].word,
                                         .to = w[1].word,
                                         .wake = (int32_t)a[2],
                                         .move = (int32_t)a[3],
                                         .expected = &expected});
}
