/* timeline.h - who ran when, and what happened: a recording as lanes of rectangles.
 *
 * SPDX-License-Identifier: MIT
 *
 * One thread runs at a time, so time is the ticks of all threads, and a turn is a range of it.
 * Turns come in order. A position (thread and its own count) is turned into such a time by the
 * thread's turn that it falls in. What is to be drawn for a range and a width comes as rectangles
 * with words for each, so that all of it can be tested, read aloud and clicked without a screen.
 */
#ifndef GUI_MODEL_TIMELINE_H
#define GUI_MODEL_TIMELINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum timeline_kind {
    TIMELINE_RUN,    /* a thread runs; `share` of the pixel's time */
    TIMELINE_WAIT,   /* a thread waits: for a lock, a moment, input */
    TIMELINE_OUTPUT, /* marks: a moment each */
    TIMELINE_SIGNAL,
    TIMELINE_MARK, /* of the program, docs/marks.md */
    TIMELINE_STOP, /* where the session has been */
    TIMELINE_BOOKMARK,
    TIMELINE_SLICE,
    TIMELINE_RACE,
    TIMELINE_FAILURE,
    TIMELINE_KINDS
};

struct timeline_rect {
    enum timeline_kind kind;
    uint32_t thread;
    int lane;
    double x, y, width, height;
    double share;      /* 0 to 1 */
    uint64_t from, to; /* ticks */
    const char *label; /* of marks: belongs to the timeline */
};

struct timeline;

struct timeline *timeline_new(void);
void timeline_free(struct timeline *t);

/* In order of `from`. `count` is the thread's own at the turn's begin. */
void timeline_add_turn(struct timeline *t, uint32_t thread, uint64_t from, uint64_t to,
                       uint64_t count);
/* The turn that was added last ended because its thread waits; it does so up to its next one. */
void timeline_add_wait(struct timeline *t);
/* When a thread's own counter was there; false: in no turn that is known. */
bool timeline_when(const struct timeline *t, uint32_t thread, uint64_t count, uint64_t *ticks);
/* The same of a position as text, T2:48213:401136. */
bool timeline_when_position(const struct timeline *t, const char *position, uint64_t *ticks);

void timeline_add_mark(struct timeline *t, enum timeline_kind kind, uint32_t thread, uint64_t ticks,
                       const char *label);
/* All marks of another timeline, which has none then. */
void timeline_move_marks(struct timeline *t, struct timeline *from);
void timeline_clear_marks(struct timeline *t, enum timeline_kind kind);

uint64_t timeline_begin(const struct timeline *t);
uint64_t timeline_end(const struct timeline *t); /* ticks of the whole recording */
unsigned timeline_lanes(const struct timeline *t);
uint32_t timeline_lane_thread(const struct timeline *t, unsigned lane);

/* struct timeline_rect of what lies in [from, to], for an area of that size; runs first, then
 * marks: one of each kind for each pixel of a lane. */
GArray *timeline_draw(const struct timeline *t, uint64_t from, uint64_t to, double width,
                      double height);

#endif
