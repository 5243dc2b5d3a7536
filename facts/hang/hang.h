/* hang.h - what every thread waits for at the end of a recording, and who could end that.
 *
 * SPDX-License-Identifier: MIT
 *
 * Registers and memory at the end say in which call of the kernel a thread is, and on which word.
 * One more replay tells what was done to these words (history.h). No trace is needed.
 */
#ifndef FACTS_HANG_HANG_H
#define FACTS_HANG_HANG_H

#include "engine/os/kinds.h"
#include "facts/locks/locks.h"

enum { HANG_NAME = 256, HANG_VALUE = 40, HANG_CAUSES = 4, HANG_ARGUMENTS = 6 };

/* Something that happened once. */
struct hang_moment {
    struct position at; /* thread 0: it did not, or is not known */
    uint64_t ticks;     /* of all threads */
    gaddr line_pc;      /* in the user's own code; 0: not known */
};

/* Memory that decides whether the waiter goes on waiting. */
struct hang_cause {
    gaddr addr;
    uint32_t bytes;
    char name[HANG_NAME];
    char value[HANG_VALUE];     /* at the end */
    struct hang_moment written; /* last */
    bool signalled;             /* after that */
};

struct hang_thread {
    uint32_t number; /* in positions */
    int32_t tid;
    char name[16];
    struct position at; /* of its next instruction: the call of the kernel that it waits in */
    gaddr line_pc; /* the innermost call in the user's own code, else in a library; 0: not known */
    gaddr cfa;     /* of that call, if it is in the user's own code; 0: not known */
    bool waits;    /* else it could run */
    bool endless;  /* no time ends it, and nobody outside of the program */
    int64_t call;  /* of the kernel; -1: none */
    uint64_t arg[HANG_ARGUMENTS];
    enum locks_kind kind;     /* LOCKS_NONE: something else */
    gaddr object;             /* 0: not known */
    char what[HANG_NAME];     /* its name; empty: nothing is known */
    uint32_t holder;          /* the thread that has what it waits for, or that it joins; 0: none */
    bool ended;               /* that thread has */
    uint32_t circle;          /* threads with the same number wait for each other; 0: none */
    struct hang_moment since; /* when it called what waits */
    struct hang_moment taken; /* by the holder */
    struct hang_moment signalled; /* a condition or a semaphore, last */
    struct hang_cause cause[HANG_CAUSES];
    unsigned causes;
    bool goes_on; /* what it waits for has come, but nobody woke it */
};

struct hang {
    struct hang_thread *thread; /* those of circles first, then by their numbers */
    size_t threads;
    size_t waiting, circles;
};

/* Made when first asked for, kept with the study, which needs debug information and no trace. NULL
 * with *err set. */
const struct hang *hang_find(struct study *s, struct err *err);

/* Did the recording end as one that hung: by a signal from outside, or cut off, while its first
 * thread waited? Before hang_find(), NULL: may it be? */
bool hang_is(const struct study *s, const struct hang *h);

/* "3 of 4 threads wait; T2, T3 wait for each other" */
void hang_summary(const struct hang *h, char *out, size_t room);
/* "waits for the mutex `first`" */
void hang_words(const struct hang_thread *t, char *out, size_t room);
/* "held by T3 since work.c:12", "last signalled by ..."; empty: there is nothing to tell. */
void hang_story(struct study *s, const struct hang_thread *t, char *out, size_t room);

#endif
