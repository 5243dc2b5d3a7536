/* locks.h - which thread took and gave back which lock, and what it waited for.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace has no values, but the calls of the C library's functions are known by their symbols, and
 * what they were given follows from the memory that they touch: the first argument is the register
 * by which the function's first block addresses memory, or what its locked instruction touches. A
 * mutex and a writer's lock are taken and given back where their owner is written. Positions are of
 * these writes, else of the call's end. Plain arrays: nothing points anywhere.
 */
#ifndef FACTS_LOCKS_LOCKS_H
#define FACTS_LOCKS_LOCKS_H

#include "study/study.h"

enum locks_kind {
    LOCKS_NONE,
    LOCKS_MUTEX,
    LOCKS_RWLOCK,
    LOCKS_SPIN,
    LOCKS_CONDITION,
    LOCKS_SEMAPHORE,
    LOCKS_BARRIER,
    LOCKS_JOIN,
    LOCKS_ONCE,
};

struct locks_event {
    uint64_t insn;
    struct position at;
    gaddr lock;
    gaddr line_pc;   /* the call in the user's own code; 0: none */
    uint32_t thread; /* as in trace_step.thread */
    enum locks_kind kind;
    bool take;   /* else it was given back */
    bool shared; /* a reader's */
    bool tried;  /* it would not have waited for it, or not for ever */
};

/* A call in which a thread went to sleep. */
struct locks_wait {
    uint64_t from, to;  /* instructions; to: UINT64_MAX, it is still in it at the end */
    struct position at; /* where it went to sleep first */
    gaddr object;       /* 0: not known */
    gaddr line_pc;
    uint32_t thread;
    uint32_t joins; /* the thread that it waits for, plus one; 0: none, or not known */
    enum locks_kind kind;
};

struct locks {
    struct locks_event *event; /* in the order of the execution */
    size_t events, event_room;
    struct locks_wait *wait; /* in the order of their ends */
    size_t waits, wait_room;
};

/* Made when first asked for, kept with the study. NULL with *err set. */
const struct locks *locks_find(struct study *s, struct err *err);

/* Events of locks that are held before instruction `insn`: malloc()ed, *count of them, in the order
 * in which they were taken. NULL with *err set. */
const struct locks_event **locks_held(const struct locks *l, uint64_t insn, size_t *count,
                                      struct err *err);

const char *locks_kind_name(enum locks_kind kind); /* "mutex" */

#endif
