/* paths.h - the ways of a recording's threads through the user's own code.
 *
 * SPDX-License-Identifier: MIT
 *
 * A way is a sequence of stretches: straight-line code up to the next transfer of control, however
 * the engine has cut it into blocks. Each has its depth: how many frames of own code are below it.
 * Libraries are left out. Addresses are those of the first of the recordings that are compared, so
 * that stretches of both are numbered alike.
 */
#ifndef FACTS_DIFF_PATHS_H
#define FACTS_DIFF_PATHS_H

#include "facts/diff/reads.h"
#include "facts/order/numbers.h"
#include "study/study.h"

/* Events of a recording: no more are looked at; and so many have moments. */
enum { PATHS_NONE = UINT32_MAX, PATHS_MOST = 24 << 20, PATHS_MOMENTS = 1 << 20 };

struct paths_stretch {
    gaddr start, last; /* of its first and last instruction */
    uint32_t insns;
    uint8_t kind; /* enum insn_kind of the last */
};

/* All stretches of the recordings. {0} is empty. */
struct paths_table {
    struct paths_stretch *stretch;
    size_t count, room;
    struct numbers numbers; /* by start and last */
};
void paths_table_deinit(struct paths_table *t);

struct paths_event {
    uint32_t stretch, depth;
};

/* More of an event, if it is one of the first. */
struct paths_moment {
    uint64_t insn; /* its first instruction */
    gaddr cfa;     /* of its frame; 0: not known */
    uint32_t pair; /* both recordings have it, with this number; 0: not */
};

struct paths_thread {
    uint32_t number; /* in positions */
    uint32_t maker;  /* the thread that made it, as in trace_step.thread; PATHS_NONE: none */
    uint32_t site,
        ordinal; /* the stretch that its maker was in, and how many it made there before */
    struct paths_event *event;
    size_t events, room;
    struct paths_moment *moment; /* of events from the first on */
    size_t moments, moment_room;
    gaddr base; /* the stack where own code begins; 0: not known */
    /* The stretch that is not over. */
    bool open;
    gaddr start, next;
    uint64_t serial; /* of its frame */
    uint32_t insns;
};

struct paths {
    struct paths_thread *thread; /* as in trace_step.thread */
    uint32_t threads;
    struct reads reads;
    uint64_t events, moments; /* of all threads */
    bool cut;                 /* there are more events */
};

/* An event whose moment is wanted: of the instruction at pc, or the last one of its stretch. */
struct paths_want {
    uint32_t thread;
    size_t event;
    gaddr pc;      /* 0: the last */
    uint64_t insn; /* told */
    struct position at;
};

/* `first` is the recording whose debug information and addresses count, `s` this one or the other.
 */
int paths_make(struct study *first, struct study *s, struct paths_table *table, struct paths *out,
               struct err *err);
void paths_deinit(struct paths *p);

struct kept_file;
/* Has it the same contents, as far as recordings know? */
bool paths_same_file(const struct kept_file *a, const struct kept_file *b);

/* The moments of some events, by another pass. They are sorted by thread and event. */
int paths_find(struct study *first, struct study *s, struct paths_want *want, size_t wants,
               struct err *err);

#endif
