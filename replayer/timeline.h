/* timeline.h - walk a replay forwards and backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * A timeline is one recording and a place in it, `now`. It moves by running forwards to the next
 * thing that is asked for, or backwards to the last one before now. Going back means: a copy of an
 * earlier replaying process (a checkpoint) runs forwards to where it is wanted. Checkpoints are
 * made and dropped by the timeline itself, within a limit of memory.
 *
 *     t = timeline_new(pinball, &options, &err);     now: before the first instruction
 *     timeline_stops(t, &stops, &err);               what continue and back look for
 *     timeline_continue(t, &stop, &err);
 *     timeline_back(t, &stop, &err);
 *
 * A timeline belongs to one thread. Moves return 0 with *stop filled; -1 with *err set, where code
 * REPLAY_DIVERGED says that the replay is not the recorded run; now is then where it was, if it can
 * be. What the program writes is passed to options.listener the first time it is executed.
 */
#ifndef REPLAYER_TIMELINE_H
#define REPLAYER_TIMELINE_H

#include "debug/debuggee.h"
#include "replayer/replay.h"

struct timeline;

struct timeline_options {
    struct debuggee_listener listener;
    const char *engine;    /* engine options; NULL: none */
    uint64_t memory_bytes; /* for checkpoints; 0: a quarter of the machine's */
    bool grows;            /* the recording is being written: timeline_grown() */
};

/* NULL with *err set. */
struct timeline *timeline_new(struct pinball *pinball, const struct timeline_options *options,
                              struct err *err);
void timeline_free(struct timeline *timeline); /* NULL is allowed */

bool timeline_is_at_end(const struct timeline *timeline);
/* The pinball has more than it had: now is not at its end any more. */
void timeline_grown(struct timeline *timeline);

/* ---- what to stop at ---- */

/* Replaces all there were. Cheap if little has changed. What it points to is copied. */
int timeline_stops(struct timeline *timeline, const struct debuggee_stops *stops, struct err *err);
struct stoplist;
int timeline_stops_as(struct timeline *timeline, const struct stoplist *stops, struct err *err);

/* ---- moving ---- */

/* The last stop. */
const struct debuggee_stop *timeline_now(const struct timeline *timeline);

/* Runs on to the next stop. What is at now itself does not count. */
int timeline_continue(struct timeline *t, struct debuggee_stop *stop, struct err *err);
/* Not past that place, which is ahead. */
int timeline_continue_to(struct timeline *t, const struct position *to, struct debuggee_stop *stop,
                         struct err *err);
/* Back to the last stop before now. */
int timeline_back(struct timeline *t, struct debuggee_stop *stop, struct err *err);

/* Until `thread` (0: the one of now) has executed an instruction and is outside [low, high);
 * the recorded schedule decides what others do meanwhile. Other stops end it, too. */
int timeline_step(struct timeline *t, uint32_t thread, uint64_t low, uint64_t high,
                  struct debuggee_stop *stop, struct err *err);
/* To before the last instruction that `thread` has executed. */
int timeline_step_back(struct timeline *t, uint32_t thread, struct debuggee_stop *stop,
                       struct err *err);

/* The same for somebody who will step back again wherever it stops on one of `edges` (sorted by pc
 * and next, at most STOP_MAX_EDGES): pairs of instructions that the thread executed one after the
 * other. As far as it has executed nothing else, turns of a loop are left out: it stops where one
 * begins that is like the one now, with the same instruction executed next. Other stops end it. */
int timeline_loop_back(struct timeline *t, uint32_t thread, const struct stop_edge *edges,
                       size_t count, struct debuggee_stop *stop, struct err *err);

/* Regardless of stops. A position that the recording does not have is an error, and now is where it
 * was. */
int timeline_goto(struct timeline *t, const struct position *to, struct debuggee_stop *stop,
                  struct err *err);
int timeline_goto_begin(struct timeline *t, struct debuggee_stop *stop, struct err *err);
int timeline_goto_end(struct timeline *t, struct debuggee_stop *stop, struct err *err);
/* By ticks of all threads, from the recording's begin. */
int timeline_goto_ticks(struct timeline *t, uint64_t ticks, struct debuggee_stop *stop,
                        struct err *err);
/* Is it before (-1), at (0) or behind (1) now? */
int timeline_compare(struct timeline *t, const struct position *to, int *order, struct err *err);

/* ---- the state at now ---- */

/* For the state functions of replay.h: registers, memory, threads, maps. Valid until the next move.
 * In a diversion it is the diversion. */
struct replay *timeline_replay(struct timeline *timeline);

/* Valid until the next move. */
void timeline_program(struct timeline *timeline, struct debuggee_program *out);

/* Files of the recorded machine that are kept with the pinball; by path, with symbolic links of the
 * recorded machine not followed. Returns a number, -1: there is none, or it is not kept whole. */
int timeline_file_find(struct timeline *timeline, const char *path, uint64_t *size);
int timeline_file_read(struct timeline *timeline, int file, uint64_t offset, void *out,
                       size_t bytes, struct err *err);
/* A separate debug file of this machine, by its path: beside a kept file of a recording that was
 * made here, or below /usr/lib/debug. A descriptor with *size, or -1. Whether it is the right one
 * the debugger can tell. */
int timeline_debug_file(struct timeline *timeline, const char *path, uint64_t *size);
/* Its path; NULL past the last one. */
const char *timeline_file_path(struct timeline *timeline, int file);

/* ---- what happened, as far as it was executed once ---- */

/* All of them in order: 1 with *event, valid until the next move; 0 after the last. *place starts
 * as 0. */
int timeline_event(struct timeline *timeline, size_t *place, struct debuggee_event *event);

/* Bookmarks, kept with the pinball: a line for a position. The i-th: 1, or 0 past the last. */
int timeline_bookmark(struct timeline *t, const struct position *at, const char *note,
                      struct err *err);
/* As debuggee.h has them. */
int timeline_statement(struct timeline *t, size_t i, struct debuggee_statement *out);
int timeline_statement_at(struct timeline *t, const struct position *at, size_t *i);
int timeline_statement_place(struct timeline *t, size_t i, uint64_t *first, uint64_t *last);
int timeline_bookmark_get(struct timeline *t, size_t i, struct position *at, const char **note);

#endif
