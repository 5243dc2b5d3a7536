/* session.h - how a recording or a replay takes part in the engine's work.
 *
 * SPDX-License-Identifier: MIT
 *
 * `session` is NULL for `drdebug run`. The engine tells the recorder (logger/target) of everything
 * that a replay cannot recompute, at the moment it happens and by the thread that holds the baton,
 * so that the order of the notes is the order of the execution. In a replay the engine asks the
 * replayer (replayer/target) instead of the kernel, and the replayer decides from those notes which
 * thread runs how far. A function that is NULL is not wanted.
 *
 * A program that is debugged while it is recorded has live/target's table, which passes on to the
 * recorder's. The engine knows nobody above it: these tables are declared here and defined there.
 */
#ifndef ENGINE_CORE_SESSION_H
#define ENGINE_CORE_SESSION_H

#include "engine/core/thread.h"

/* How the program ends; the numbers are those of pinball/ends.def, which this folder does not know.
 */
enum session_end { SESSION_EXIT = 1, SESSION_SIGNAL = 2, SESSION_EXEC = 3 };

/* What a mark says (os/mark.h); the numbers are those of include/drdebug.h and of RECORD_MARK. */
enum mark_kind { MARK_PLACE = 1, MARK_REGION_BEGIN, MARK_REGION_END };
enum { MARK_TEXT_BYTES = 256 }; /* longer ones are cut */

struct session {
    void (*prepare)(void);           /* before the runtime allocates anything */
    void (*start)(struct thread *t); /* before the first instruction */

    /* Threads. */
    void (*running)(struct thread *t); /* it has got the baton */
    void (*leaves)(struct thread *t);  /* it is about to give it away */
    void (*idle)(bool all); /* record: all threads wait for one another; false: no longer */
    void (*thread)(struct thread *t, struct thread *child); /* clone is about to make it */
    void (*begin)(struct thread *t);                        /* a new thread's first act */
    void (*forked)(struct thread *t);                       /* in the child process */
    void (*end)(struct thread *t, enum session_end how, int status);
    /* record: a process that shares the memory ends here, or did, by a signal */
    void (*killed)(struct thread *t);
    int (*exec)(struct thread *t); /* a descriptor for the next program's session; -1: none */

    /* Ticks. tick() is called when the budget is used up, before anything else happens there. */
    void (*tick)(struct thread *t);
    bool (*due)(struct thread *t);        /* replay: is there something to do at this position? */
    uint64_t (*budget)(struct thread *t); /* replay: ticks to the next such position */
    void (*pause)(struct thread *t);      /* replay: the runtime is entered; may stop here */
    void (*yield)(struct thread *t); /* record: it gives the baton away here, and holds its lock */

    /* System calls. */
    bool (*replay_call)(struct thread *t, gaddr next); /* replay: all of it */
    void (*entering)(struct thread *t);
    void (*making)(struct thread *t, long nr); /* no filter of the target's own forbids it */
    void (*wrote)(struct thread *t, gaddr addr, uint64_t bytes); /* and now it waits */
    void (*called)(struct thread *t, long nr, long result);
    void (*returned)(struct thread *t, long nr); /* ... and its registers are set */
    /* record: a call whose effect could not be shown again; it fails with EINVAL, as on a kernel
     * that cannot do it for these descriptors */
    bool (*refuses)(struct thread *t, long nr, const long a[6]);
    void (*restarted)(struct thread *t); /* given up for a signal */

    /* A signal or fault is about to be delivered, or to have its default action. False: it is
     * dropped; after a fault the thread goes on at its pc. */
    bool (*arrives)(struct thread *t, struct siginfo_raw *info);
    /* Signals: before a frame is built, or before the process dies of it. */
    void (*signal)(struct thread *t, const struct siginfo_raw *info);
    void (*fault)(struct thread *t);

    /* Instructions that deliver values from outside. values(): record, registers before it;
     * replay_values(): sets them; false: a fault came instead. */
    void (*values)(struct thread *t, const struct cpu_state *before);
    bool (*replay_values)(struct thread *t);

    /* Before a mark's nop. */
    void (*mark)(struct thread *t, enum mark_kind kind, const char *text, size_t bytes);

    bool replaying; /* the kernel is not told anything */
};

extern const struct session *session;
extern const struct session session_record, session_replay, session_live;

/* Over registers that are the same in every execution of the same path. */
uint64_t session_hash(const struct thread *t);
uint64_t session_hash_all(struct thread *t);                     /* with the vector registers */
uint64_t session_hash_memory(const uint64_t *p, uint64_t bytes); /* a multiple of 32 */

#endif
