/* baton.c - one thread of the target runs at a time.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread waits on its own baton_word: WAITING, ASLEEP once its kernel thread is about to wait in
 * the kernel, GIVEN by the one who hands over. So a hand-over enters the kernel once, to wake, and
 * not at all if the next one has not gone to sleep. Two threads that take turns, on two processors,
 * need no sleep: one thread at a time looks at its word for a moment before it sleeps, as long as
 * that pays.
 *
 *  1. baton_queued says that a thread has asked: set under the lock, so that nobody is queued
 * twice; cleared by the thread itself when it has the baton.
 *  2. Without an owner all threads in the queue rest (spin.h): the next one that asks has it at
 * once.
 *  3. await() is the only place where a thread learns that the baton is its own: its word says so,
 * and baton.owner, too.
 *
 * A process that shares the memory takes part as a thread does, but can be killed anywhere, with
 * the baton or the lock in its hands. While there are such processes, who waits looks now and then
 * whether the owner is dead.
 */
#include "engine/sched/baton.h"

#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/control.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/look.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

enum { WAITING, GIVEN, ASLEEP };

/* When in so many rounds everybody has only waited for others by spinning, turns get longer again,
 * from so many cycles on: otherwise the log fills with switches while all wait for the kernel. */
enum { VAIN_ROUNDS = 2, PATIENCE_CYCLES = 4096, PATIENCE_MOST = 2500000 };

/* A switch takes some 20 bytes of log. In the long run spinning threads switch at most every so
 * many cycles, about 1 MB/s; so many switches may have been saved up for when there is work. */
enum { SWITCH_CYCLES = 40000, SWITCHES_SAVED = 1000 };

/* A look before sleeping takes as long as being woken by the kernel may take on a virtual machine;
 * after looks in vain a thread sleeps at once, the longer the more there were. */
enum { SPIN_CYCLES = 100000, SKIPS_MOST = 1023 };

/* A thread that rests gets a turn after so long in any case, as if others had used up theirs: its
 * loop may count, and a signal may wait for it. */
enum { REST_NS = 1000000 };

/* How long to wait until looking whether the owner is still alive. */
enum { ALIVE_NS = 20000000, ALIVE_SPINS = 1000 };

static struct {
    struct thread *lock;   /* who has it, for the few lines below: for nanoseconds */
    bool broken;           /* it died with the lock: the queue is to be put in order */
    struct thread *killed; /* it died with the baton: the next owner notes that */
    struct thread *owner;
    struct thread *spinner; /* looks at its word; a hint, written without the lock */
    struct thread *head, *tail;
    struct thread *guest; /* waits */
    uint32_t only;        /* number of the thread that alone may have it; 0: any */
    bool idle;            /* session->idle() was told so */
    uint32_t queued;      /* length of the queue */
    uint32_t vain;        /* turns in sequence that were spun without seeing anything new */
    uint64_t paid; /* time stamp up to which switches of spinning threads have used the time */
} baton;

static bool is_dead(const struct thread *t)
{
    return threads_is_side(t) && !__atomic_load_n(&t->host_alive, __ATOMIC_ACQUIRE);
}

static void dequeue(const struct thread *t);

/* The dead owner of the lock was about to change the queue. */
static void put_in_order(void)
{
    baton.broken = false;
    baton.tail = NULL;
    baton.queued = 0;
    for (struct thread *t = baton.head; t; t = t->baton_next, baton.queued++)
        baton.tail = t;
    if (baton.owner)
        dequeue(baton.owner);
}

static bool take_lock(struct thread *from, struct thread *to)
{
    return __atomic_compare_exchange_n(&baton.lock, &from, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void lock(void)
{
    struct thread *self = thread_self();
    for (int spins = 0; !take_lock(NULL, self); spins++)
        if (spins < 100) {
            __builtin_ia32_pause();
        } else {
            struct thread *holder = __atomic_load_n(&baton.lock, __ATOMIC_ACQUIRE);
            sys0(__NR_sched_yield);
            if (spins % ALIVE_SPINS == 0 && holder && is_dead(holder) && take_lock(holder, self)) {
                baton.broken = true;
                break;
            }
        }
    if (baton.broken)
        put_in_order();
}

static void unlock(void)
{
    __atomic_store_n(&baton.lock, NULL, __ATOMIC_RELEASE);
}

static uint64_t now(void)
{
    return __builtin_ia32_rdtsc();
}

/* ---- the queue; the lock is held ---- */

static void enqueue(struct thread *t)
{
    t->baton_queued = true;
    t->baton_next = NULL;
    if (baton.tail)
        baton.tail->baton_next = t;
    else
        baton.head = t;
    baton.tail = t;
    baton.queued++;
    baton.vain = 0; /* a newcomer may be the one that all wait for */
}

static void dequeue(const struct thread *t)
{
    struct thread *before = NULL, *at = baton.head;
    for (; at && at != t; at = at->baton_next)
        before = at;
    if (!at)
        return;
    baton.queued--;
    *(before ? &before->baton_next : &baton.head) = at->baton_next;
    if (baton.tail == at)
        baton.tail = before;
}

/* Whether there is nobody but threads that wait for one another, without a time limit. */
static void note_idle(void)
{
    bool idle = !baton.owner;
    for (const struct thread *t = engine.threads; idle && t; t = t->next)
        idle = t->baton_parked;
    if (idle != baton.idle && session && session->idle)
        session->idle(idle);
    baton.idle = idle;
}

/* Asks for the baton. */
static void ask(struct thread *t)
{
    if (!baton.owner && (!baton.only || baton.only == t->number)) {
        baton.owner = t;
        t->baton_word = GIVEN;
        note_idle();
    } else if (!t->baton_queued) {
        enqueue(t);
    }
}

static struct thread *choose(void)
{
    struct thread *t = baton.head;
    if (!baton.only)
        return schedule->choose(t);
    while (t && t->number != baton.only)
        t = t->baton_next;
    return t;
}

/* Makes the next one the owner. Returns it, to be woken. */
static struct thread *hand_over(void)
{
    struct thread *next = baton.guest ? baton.guest : choose();
    baton.guest = NULL;
    baton.owner = next;
    baton.vain = 0;
    look_end();
    if (next)
        dequeue(next);
    note_idle();
    return next;
}

/* ---- sleeping and waking ---- */

static void wake(struct thread *t)
{
    if (t && __atomic_exchange_n(&t->baton_word, GIVEN, __ATOMIC_ACQ_REL) == ASLEEP)
        sys3(__NR_futex, (long)&t->baton_word, FUTEX_WAKE_PRIVATE, 1);
}

/* A word that came late: the baton was given, told by another one (look_after_owner(),
 * baton_steal()), used and given away before the giver came to tell. */
static void take_back(struct thread *t)
{
    lock();
    if (baton.owner != t)
        t->baton_word = WAITING;
    unlock();
}

/* The waker knows from now on that it must wake. False: it has given the baton already. */
static bool about_to_sleep(struct thread *t)
{
    uint32_t word = WAITING;
    while (!__atomic_compare_exchange_n(&t->baton_word, &word, ASLEEP, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE) &&
           word != ASLEEP) {
        if (__atomic_load_n(&baton.owner, __ATOMIC_RELAXED) == t)
            return false;
        take_back(t);
        word = WAITING;
    }
    return true;
}

static bool is_given(const struct thread *t)
{
    return __atomic_load_n(&t->baton_word, __ATOMIC_ACQUIRE) == GIVEN;
}

/* Looks for a while whether the baton comes. */
static void spin(struct thread *t)
{
    if (t->baton_skip) {
        t->baton_skip--;
        return;
    }
    const struct thread *other = __atomic_load_n(&baton.spinner, __ATOMIC_RELAXED);
    if (other && !is_given(other))
        return;
    __atomic_store_n(&baton.spinner, t, __ATOMIC_RELAXED);
    uint64_t start = now();
    bool came = is_given(t);
    while (!came && now() - start < SPIN_CYCLES) {
        __builtin_ia32_pause();
        came = is_given(t);
    }
    __atomic_compare_exchange_n(&baton.spinner, &(struct thread *){t}, NULL, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    uint32_t skips = came ? t->baton_skips / 2u : 4u * t->baton_skips + 3;
    t->baton_skips = (uint16_t)(skips < SKIPS_MOST ? skips : SKIPS_MOST);
    t->baton_skip = t->baton_skips;
}

/* Takes the baton from an owner that is dead, and tells the new one, or the one to whom a dead
 * thread gave it without a word. */
static void look_after_owner(void)
{
    lock();
    if (baton.owner && is_dead(baton.owner)) {
        baton.killed = baton.owner;
        hand_over();
    }
    struct thread *owner = baton.owner;
    if (owner)
        __atomic_store_n(&owner->baton_word, GIVEN, __ATOMIC_RELEASE);
    unlock();
    if (owner)
        sys3(__NR_futex, (long)&owner->baton_word, FUTEX_WAKE_PRIVATE, 1);
}

/* It wants a turn as everybody does. */
static void end_rest(struct thread *t)
{
    lock();
    t->spin.rests = NULL;
    struct thread *next = baton.owner ? NULL : hand_over();
    unlock();
    wake(next);
}

static void sleep_until_given(struct thread *t)
{
    const int64_t look[2] = {0, ALIVE_NS}, rest[2] = {0, REST_NS};
    while (about_to_sleep(t)) {
        bool rests = t->spin.rests;
        bool looks = __atomic_load_n(&engine.side_processes, __ATOMIC_RELAXED);
        long r = sys4(__NR_futex, (long)&t->baton_word, FUTEX_WAIT_PRIVATE, ASLEEP,
                      rests   ? (long)rest
                      : looks ? (long)look
                              : 0);
        if (r == -ETIMEDOUT && looks)
            look_after_owner();
        if (rests && (r == -ETIMEDOUT || r == -EINTR))
            end_rest(t);
    }
}

static void await(struct thread *t)
{
    sleep_until_given(t);
    t->baton_queued = false;
    t->baton_since = now();
    spin_turn(t, t->baton_spun);
    t->baton_spun = false;
    if (baton.killed) {
        struct thread *killed = baton.killed;
        baton.killed = NULL;
        threads_killed(killed);
    }
    if (session)
        session->running(t);
}

/* ---- the interface ---- */

static void leave(struct thread *t)
{
    if (session && session->leaves)
        session->leaves(t);
}

void baton_acquire(struct thread *t)
{
    lock();
    if (!t->baton_queued) /* else it may have been given already: baton_expect() */
        t->baton_word = WAITING;
    ask(t);
    unlock();
    await(t);
}

void baton_drop(struct thread *t)
{
    leave(t);
    lock();
    rt_check(baton.owner == t);
    struct thread *next = hand_over();
    unlock();
    wake(next);
}

bool baton_if_idle(void (*act)(void *arg), void *arg)
{
    lock();
    const bool idle = !baton.owner;
    if (idle)
        act(arg);
    unlock();
    return idle;
}

bool baton_release(struct thread *t)
{
    if (engine.thread_count == 1)
        return false;
    baton_drop(t);
    return true;
}

/* To the next one; `spins`: since there is nothing to do for this one. */
static void give_away(struct thread *t, bool spins)
{
    if (t->attached) /* a thread that it has stopped may hold the lock */
        return;
    leave(t);
    lock();
    uint32_t vain = spins && !t->spin.news ? baton.vain + 1 : 0;
    t->baton_word = WAITING;
    enqueue(t);
    struct thread *next = hand_over();
    baton.vain = vain;
    if (spins && next != t && !threads_is_side(t)) /* a dead one is noticed when its turn comes */
        spin_rest(t);
    t->baton_spun = spins;
    if (session && next != t) /* with the lock: another one may tell the next, who then runs */
        session->yield(t);
    unlock();
    t->spin.news = false;
    spin_stats.given += spins;
    wake(next);
    await(t);
}

void baton_yield(struct thread *t)
{
    give_away(t, false);
}

/* How long a thread that spins goes on even so. */
static uint64_t patience(void)
{
    uint32_t rounds = baton.vain / (baton.queued + 1);
    if (rounds < VAIN_ROUNDS)
        return 0;
    uint32_t doubled = rounds - VAIN_ROUNDS;
    return doubled < 10 ? (uint64_t)PATIENCE_CYCLES << doubled : PATIENCE_MOST;
}

static void forget_old_savings(uint64_t at)
{
    const uint64_t saved = (uint64_t)SWITCH_CYCLES * SWITCHES_SAVED;
    if (baton.paid + saved < at)
        baton.paid = at - saved;
}

bool baton_may_switch(uint64_t turn)
{
    const uint64_t at = now();
    if (turn < patience())
        return false;
    forget_old_savings(at);
    if (baton.paid + SWITCH_CYCLES > at)
        return false;
    baton.paid += SWITCH_CYCLES;
    return true;
}

void baton_rest(struct thread *t)
{
    forget_old_savings(now());
    uint64_t due = baton.paid += SWITCH_CYCLES;
    baton_drop(t);
    do
        sys0(__NR_sched_yield);
    while (now() < due && !__atomic_load_n(&t->pending, __ATOMIC_RELAXED));
    baton_acquire(t);
}

static bool others_can_run(void)
{
    lock();
    bool can = choose();
    unlock();
    return can;
}

void baton_yield_if_due(struct thread *t)
{
    bool waited = schedule->controlled || __atomic_load_n(&baton.head, __ATOMIC_RELAXED);
    if (__atomic_load_n(&baton.guest, __ATOMIC_RELAXED)) {
        give_away(t, false);
        return;
    }
    bool spins = spin_sample(t, waited);
    if (waited && (!spins || others_can_run()) && schedule->is_over(t, spins))
        give_away(t, spins);
}

long baton_park(struct thread *t, const struct baton_deadline *deadline)
{
    long op = FUTEX_WAIT_BITSET_PRIVATE;
    const bool asleep = deadline && schedule->controlled; /* until the strategy wakes it */
    if (deadline && deadline->realtime && !asleep)
        op |= FUTEX_CLOCK_REALTIME;
    const long until = deadline && !asleep ? (long)deadline->ts : 0;
    const long a[6] = {(long)&t->baton_word, op, ASLEEP, until, 0, -1};
    leave(t);
    lock();
    rt_check(baton.owner == t);
    t->baton_word = WAITING;
    t->baton_parked = !deadline;
    t->control.wake_at = asleep ? control_deadline(deadline) : 0;
    t->control.late = false;
    struct thread *next = hand_over();
    unlock();
    wake(next);
    if (next)
        spin(t);
    long r = 0;
    for (bool slept = false; about_to_sleep(t); slept = true) {
        r = engine_syscall(__NR_futex, a);
        if (r == SYSCALL_ABORTED && slept && deadline)
            r = -EINTR; /* made anew, it would wait its whole time again */
        if (r != 0 && r != -EAGAIN) {
            lock();
            ask(t);
            unlock();
            break;
        }
    }
    await(t);
    t->baton_parked = false;
    t->control.wake_at = 0;
    return t->control.late && !r ? -ETIMEDOUT : r;
}

void baton_make_runnable(struct thread *parked)
{
    lock();
    if (!parked->baton_queued)
        enqueue(parked);
    unlock();
}

void baton_steal(struct thread *from, struct thread *to)
{
    lock();
    to->baton_word = WAITING;
    dequeue(from);
    from->baton_queued = true; /* for good: nobody shall queue it again */
    baton.spinner = NULL;
    if (baton.owner == from) {
        baton.killed = from;
        hand_over();
    }
    struct thread *owner = baton.owner;
    if (owner) /* it may not have heard: `from` can have been killed on the way to telling it */
        __atomic_store_n(&owner->baton_word, GIVEN, __ATOMIC_RELEASE);
    ask(to);
    unlock();
    if (owner)
        sys3(__NR_futex, (long)&owner->baton_word, FUTEX_WAKE_PRIVATE, 1);
    await(to);
}

void baton_reset(struct thread *only)
{
    baton.lock = NULL;
    baton.broken = false;
    baton.killed = NULL;
    baton.owner = only;
    baton.spinner = NULL;
    baton.head = baton.tail = baton.guest = NULL;
    baton.only = 0;
    baton.queued = baton.vain = 0;
    baton.idle = false;
    look_end();
}

/* To the back of the queue, in one: others must not come to a choice without it. */
void baton_pass(struct thread *t)
{
    leave(t);
    lock();
    rt_check(baton.owner == t);
    t->baton_word = WAITING;
    enqueue(t);
    struct thread *next = hand_over();
    unlock();
    wake(next);
    await(t);
}

void baton_guest_enter(struct thread *guest)
{
    lock();
    guest->baton_word = WAITING;
    if (baton.owner) {
        baton.guest = guest;
    } else {
        baton.owner = guest;
        guest->baton_word = GIVEN;
    }
    unlock();
    sleep_until_given(guest);
}

void baton_guest_leave(struct thread *guest)
{
    lock();
    rt_check(baton.owner == guest);
    struct thread *next = hand_over();
    unlock();
    wake(next);
}

void baton_only(uint32_t number)
{
    lock();
    baton.only = number;
    unlock();
}

void baton_at_call(struct thread *t)
{
    bool waited = schedule->controlled || __atomic_load_n(&baton.head, __ATOMIC_RELAXED);
    if (!t->attached && waited && schedule->at_call(t))
        baton_pass(t);
}

void baton_expect(struct thread *child)
{
    lock();
    child->baton_word = WAITING;
    enqueue(child);
    unlock();
}

void baton_forget(struct thread *child)
{
    lock();
    dequeue(child);
    child->baton_queued = false;
    unlock();
}

size_t baton_queue(struct thread **out, size_t room)
{
    size_t n = 0;
    lock();
    for (struct thread *t = baton.head; t && n < room; t = t->baton_next)
        out[n++] = t;
    unlock();
    return n;
}
