/* lines.h - the lines that a program wrote, put together from events.
 *
 * SPDX-License-Identifier: MIT
 *
 * One event may hold many lines, and one line may come in many events, between those of other
 * descriptors. {0} is the state before the first event.
 *
 *     while (lines_next(&lines, &event, &line)) ...      for every event
 *     while (lines_last(&lines, &line)) ...              after the last
 */
#ifndef DEBUG_EVENTS_LINES_H
#define DEBUG_EVENTS_LINES_H

#include "debug/debuggee.h"
#include "debug/events/words.h"

enum { LINES_TARGETS = 4, LINES_BYTES = 4096 }; /* a longer line is told in pieces */

struct line {
    int to;                   /* enum mailbox_output */
    struct position at, last; /* where its first byte was written, and its last */
    uint64_t ticks;           /* at the first */
    const uint8_t *text;      /* good until the next call; without its end */
    size_t bytes;
    bool whole; /* its end is there */
};

struct lines {
    size_t offset; /* in the event that is being taken */
    struct lines_piece {
        bool used;
        struct line line;
        uint8_t *text;
        size_t bytes, room;
    } piece[LINES_TARGETS];
};

/* The event's next line: 1; 0: it has no more. An event of another kind has none. */
int lines_next(struct lines *l, const struct debuggee_event *event, struct line *out);
/* What was written last, without an end: 1; 0: no more. */
int lines_last(struct lines *l, struct line *out);
void lines_deinit(struct lines *l);

#endif
