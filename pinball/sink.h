/* sink.h - where the records of a log go.
 *
 * SPDX-License-Identifier: MIT
 *
 * A writer puts records one after another into a *window* of memory. A sink provides windows and
 * takes full ones: the ring (logger/target/log_ring.c), or the supervisor of a confined process
 * (debug/target/records.c). The writer calls the sink only if the window is full, so a record costs
 * the same wherever it goes. Included by code inside the target; no libc.
 */
#ifndef PINBALL_SINK_H
#define PINBALL_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "pinball/record.h"

struct sink_writer {
    const struct sink *sink;
    uint8_t *window; /* with room for any record; the sink provides zeroes */
    uint64_t bytes, used;
    uint64_t *committed; /* as `used`; whoever reads the window while it fills looks here, ... */
    uint64_t *records;   /* ... and here for how many records that are */
    uint32_t open;       /* bytes of the record begun */
    bool over;           /* nothing is kept any more */
};

/* The sink fills in window, bytes, used, committed and records. */
struct sink {
    void (*begin)(struct sink_writer *w); /* provides the first window */
    bool (*next)(struct sink_writer *w);  /* takes the window and provides another; false: none */
    void (*end)(struct sink_writer *w);   /* nothing comes any more: takes the last window */
};

static inline void sink_open(struct sink_writer *w, const struct sink *sink)
{
    *w = (struct sink_writer){.sink = sink};
    sink->begin(w);
}

static inline void sink_end(struct sink_writer *w)
{
    if (w->over)
        return;
    w->over = true;
    w->sink->end(w);
}

/* A record of `bytes`, at most RECORD_MAX_BYTES and a multiple of 8, zeroed beyond its header. The
 * caller fills it in and then commits it. NULL: nothing is kept any more. */
static inline void *sink_begin(struct sink_writer *w, enum record_kind kind, uint64_t bytes)
{
    if (!w->over && w->used + bytes > w->bytes && !w->sink->next(w))
        sink_end(w);
    if (w->over)
        return 0;
    struct record *r = (struct record *)(w->window + w->used);
    *r = (struct record){.kind = (uint8_t)kind, .bytes = (uint32_t)bytes};
    w->open = (uint32_t)bytes;
    return r;
}

static inline void sink_commit(struct sink_writer *w)
{
    if (w->over)
        return;
    w->used += w->open;
    ++*w->records;
    __atomic_store_n(w->committed, w->used, __ATOMIC_RELEASE);
}

/* The record begun is only so long. */
static inline void sink_shorten(struct sink_writer *w, uint64_t bytes)
{
    if (w->over)
        return;
    w->open = (uint32_t)bytes;
    ((struct record *)(w->window + w->used))->bytes = w->open;
}

#endif
