/* timeline_private.h - what the files of a timeline share. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TIMELINE_PRIVATE_H
#define REPLAYER_TIMELINE_PRIVATE_H

#include "debug/debuggee_ops.h"
#include "debug/stoplist.h"
#include "pinball/statements.h"
#include "replayer/bookmarks.h"
#include "replayer/checkpoints.h"
#include "replayer/journal.h"
#include "replayer/programs.h"
#include "replayer/timeline.h"

struct timeline {
    struct pinball *pinball;
    struct timeline_options options;
    char engine[512]; /* its options */
    struct checkpoints points;
    struct journal journal;
    struct programs programs;
    struct stoplist stops;
    struct replay *now;
    struct mailbox_moment at; /* of now */
    struct debuggee_stop last;
    unsigned program; /* that runs now */
    uint64_t ns;      /* that it takes to replay up to now */
    bool at_end;
    bool astray; /* the process of now is not there: a move has failed on the way */
    struct bookmarks bookmarks;
    struct statements statements;
    struct replay *diversion, *parked;
    /* While something runs. */
    bool walks, interrupted, marks, deaf; /* deaf: nothing interrupts it */
    uint64_t mark_at_ns;                  /* on the clock */
    /* Where a thread was, one instruction after the other, up to trail_end. */
    struct mailbox_moment trail[MAILBOX_TRAIL], trail_end;
    size_t trail_count;
    uint32_t trail_thread;
    uint64_t trail_stops; /* which stops it was made with */
    struct mailbox_what trail_hit;
};

/* A process on its way. */
struct walker {
    struct replay *replay;
    unsigned program;
    uint64_t ns;
};

/* What a move is to do. */
struct wish {
    uint32_t thread;
    uint64_t low, high, ticks;
    const struct position *to;
    const struct stop_edge *edges;
    size_t edge_count;
};

typedef int mover(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                  struct err *err);

struct pinball *timeline_pinball(struct timeline *timeline);

/* ---- timeline_walk.c: processes on their way ---- */

/* A process at the recording's begin, and a checkpoint there. */
int timeline_first(struct timeline *t, struct walker *w, struct err *err);
/* The same, again if it ends. */
int timeline_begin(struct timeline *t, struct walker *w, struct err *err);
int timeline_copy_of(struct timeline *t, int point, struct walker *w, struct err *err);
/* Leaves a checkpoint; a mark only if the one before is far enough away. */
void timeline_mark(struct timeline *t, struct walker *w, enum checkpoint_kind kind);

/* Runs until a stop that means something: not a pause to leave a mark. A pause that is left is an
 * interruption, or the ticks that were asked for. An exec is passed, unless `execs`. */
int timeline_walk(struct timeline *t, struct walker *w, struct mailbox_run *how, bool execs,
                  struct err *err);
/* The walker has come to an exec: goes on to the next program's begin. */
int timeline_enter_program(struct timeline *t, struct walker *w, struct err *err);

/* Gives the process what to stop at. */
int timeline_give_stops(struct timeline *t, struct replay *to, struct err *err);

/* The walker's place is now. */
void timeline_arrive(struct timeline *t, struct walker *w);
int timeline_finish(struct timeline *t, struct debuggee_stop *stop);
/* Makes the moment now. */
int timeline_move(struct timeline *t, const struct mailbox_moment *to, uint64_t ticks,
                  struct err *err);

/* The last checkpoint before `at` (or at it). If that is in another program than `program`, then
 * there is nothing of that one before it. -1: no checkpoint; -2 with *err set. */
int timeline_last_before(struct timeline *t, const struct mailbox_moment *at, bool or_at,
                         unsigned program, struct err *err);
/* Processes may end: drops what is gone, and makes again what is always there. */
int timeline_mend(struct timeline *t, struct err *err);
void timeline_say_lost(struct timeline *t, const char *why);
/* Does it, again and again if processes end. */
int timeline_insist(struct timeline *t, mover *go, const struct wish *wish,
                    struct debuggee_stop *stop, struct err *err);

/* ---- timeline_back.c ---- */

/* Makes the stop of a scan now. */
int timeline_go_to_hit(struct timeline *t, const struct mailbox_what *hit,
                       struct debuggee_stop *stop, struct err *err);
/* The trail holds what the thread did right before now, unless t->interrupted: *before moments of
 * it are earlier than now. */
int timeline_find_trail(struct timeline *t, uint32_t thread, size_t *before, struct err *err);
mover timeline_one_back;

/* ---- timeline.c ---- */
int timeline_at_begin(struct timeline *t, struct debuggee_stop *stop, struct err *err);
mover timeline_go_to;
bool timeline_passes(const struct timeline *t, const struct debuggee_stop *stop);
int timeline_stop_at(struct timeline *t, uint32_t thread, uint64_t count, uint64_t pc,
                     struct debuggee_stop *stop, struct err *err);

#endif
