/* baton.c - one thread of the target runs at a time. SPDX-License-Identifier: MIT */
#include "engine/os/baton.h"

#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

/* Ticks take longer when every one of them comes to the runtime. */
enum { QUANTUM_TICKS = 20000, QUANTUM_UNLINKED = 500, SLICE_CYCLES = 2500000 };

static struct {
    uint32_t lock; /* for the few lines below; held for nanoseconds */
    struct thread *owner;
    struct thread *head, *tail;
} baton;

static void lock(void)
{
    for (int spins = 0; __atomic_exchange_n(&baton.lock, 1, __ATOMIC_ACQUIRE); spins++)
        if (spins < 100)
            __builtin_ia32_pause();
        else
            sys0(__NR_sched_yield);
}

static void unlock(void)
{
    __atomic_store_n(&baton.lock, 0, __ATOMIC_RELEASE);
}

static uint64_t now(void)
{
    return __builtin_ia32_rdtsc();
}

static void enqueue(struct thread *t)
{
    t->baton_word = 0;
    t->baton_next = NULL;
    if (baton.tail)
        baton.tail->baton_next = t;
    else
        baton.head = t;
    baton.tail = t;
}

/* Makes the first in the queue the owner; the lock is held. Returns it, to be woken. */
static struct thread *hand_over(void)
{
    struct thread *next = baton.head;
    baton.owner = next;
    if (!next)
        return NULL;
    baton.head = next->baton_next;
    if (!baton.head)
        baton.tail = NULL;
    return next;
}

static void wake(struct thread *t)
{
    if (!t)
        return;
    __atomic_store_n(&t->baton_word, 1, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)&t->baton_word, FUTEX_WAKE_PRIVATE, 1);
}

static void wait_for_it(struct thread *t)
{
    while (!__atomic_load_n(&t->baton_word, __ATOMIC_ACQUIRE))
        sys4(__NR_futex, (long)&t->baton_word, FUTEX_WAIT_PRIVATE, 0, 0);
    t->baton_since = now();
}

void baton_acquire(struct thread *t)
{
    lock();
    if (!baton.owner) {
        baton.owner = t;
        unlock();
        t->baton_since = now();
        return;
    }
    enqueue(t);
    unlock();
    wait_for_it(t);
}

void baton_drop(struct thread *t)
{
    lock();
    rt_check(baton.owner == t);
    struct thread *next = hand_over();
    unlock();
    wake(next);
}

bool baton_release(struct thread *t)
{
    if (engine.thread_count == 1)
        return false;
    baton_drop(t);
    return true;
}

void baton_yield_if_due(struct thread *t)
{
    if (!__atomic_load_n(&baton.head, __ATOMIC_RELAXED) || now() - t->baton_since < SLICE_CYCLES)
        return;
    if (t->attached) /* a thread that it has stopped may hold the lock */
        return;
    lock();
    struct thread *next = NULL;
    if (baton.head) {
        next = hand_over();
        enqueue(t);
    }
    unlock();
    if (next) {
        wake(next);
        wait_for_it(t);
    }
}

void baton_steal(struct thread *from, struct thread *to)
{
    lock();
    if (baton.owner == from)
        baton.owner = NULL;
    unlock();
    baton_acquire(to);
}

void baton_reset(struct thread *only)
{
    baton.lock = 0;
    baton.owner = only;
    baton.head = baton.tail = NULL;
}

uint64_t baton_quantum(void)
{
    return engine.opt.link ? QUANTUM_TICKS : QUANTUM_UNLINKED;
}
