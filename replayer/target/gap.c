/* gap.c - instructions that the recording leaves out.
 *
 * SPDX-License-Identifier: MIT
 *
 * What they did is in the log (pinball/record_gap.h): it is put where it belongs, and the thread
 * goes on that ran then. Threads that are the same as before have no record. One kernel thread
 * replays all of them and this one has no registers of its own any more, so there is nothing else
 * to change; translations of code that is written or mapped anew go as they do for a system call.
 */
#include "replayer/target/gap.h"

#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/hot.h"
#include "engine/core/instrument.h"
#include "engine/os/fpstate.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "pinball/record_gap.h"
#include "replayer/target/cursor.h"
#include "replayer/target/flow.h"
#include "replayer/target/journal.h"
#include "replayer/target/play.h"
#include "replayer/target/space.h"
#include "replayer/target/state.h"

enum { GAP_THREADS = (RECORD_MAX_BYTES - sizeof(struct record_gap)) / sizeof(struct gap_thread) };

static struct {
    struct record_gap head;
    struct gap_thread thread[GAP_THREADS];
} gap;

static bool traced;

_Noreturn static void nonsense(void)
{
    post_failed("event %lu: not a record", cursor_number());
}

/* A copy: what follows may be in another piece of the log. */
static void take_head(void)
{
    const struct record_gap *g = (const struct record_gap *)cursor_peek();
    const uint64_t room = (g->r.bytes - sizeof *g) / sizeof *gap.thread;
    if (g->threads > room || g->threads > GAP_THREADS)
        nonsense();
    gap.head = *g;
    memcpy(gap.thread, g + 1, g->threads * sizeof *gap.thread);
}

/* Bytes that were written, without the holes: a bit for each follows the data. */
static void tell_written(const struct record_data *d)
{
    const uint64_t padded = (d->bytes + 7) & ~7ull;
    const uint8_t *bit = (const uint8_t *)(d + 1) + padded;
    if (!(d->r.flags & GAP_HOLES)) {
        flow_gap_wrote(d->addr, d->bytes);
        return;
    }
    if (padded + (d->bytes + 7) / 8 > d->r.bytes - sizeof *d)
        nonsense();
    for (uint64_t from = 0, to; from < d->bytes; from = to + 1) {
        for (to = from; to < d->bytes && (bit[to / 8] >> to % 8 & 1); to++)
            ;
        flow_gap_wrote(d->addr + from, to - from);
    }
}

static void put_data(const struct record_data *d)
{
    if (d->bytes > d->r.bytes - sizeof *d)
        nonsense();
    if (traced && (d->r.flags & GAP_WROTE))
        tell_written(d);
    space_write(d->addr, d + 1, d->bytes);
}

static void take(const struct record *r)
{
    bool is_new;
    switch (r->kind) {
    case RECORD_SIZE:
        space_object_anew((const struct record_size *)r);
        break;
    case RECORD_OBJECT:
        space_object((const struct record_object *)r);
        break;
    case RECORD_MAP:
        if (traced)
            flow_gap_wrote(((const struct record_map *)r)->start,
                           ((const struct record_map *)r)->bytes);
        if (r->flags == PARTLY_GONE)
            space_gone((const struct record_map *)r);
        else
            space_map((const struct record_map *)r);
        break;
    case RECORD_DATA:
        put_data((const struct record_data *)r);
        break;
    case RECORD_PROCESS:
        state_change_process((const struct record_process *)r);
        break;
    case RECORD_STATE: {
        struct thread *t = state_change_thread((const struct record_state *)r, &is_new);
        hot_forget(t);
        if (is_new)
            stops_new_thread(t);
        break;
    }
    default:
        nonsense();
    }
}

/* Last of all: this function's stack may be that of one of them. */
static void end_threads(void)
{
    for (uint32_t i = 0; i < gap.head.threads; i++) {
        struct thread *t = gap.thread[i].ended ? post_thread(gap.thread[i].thread) : NULL;
        if (!t)
            continue; /* made and ended in the gap */
        if (t->number == gap.head.thread)
            nonsense();
        stops_lost_thread(t);
        hot_forget(t);
        threads_unlist(t);
    }
    engine.total_ticks = gap.head.ticks;
}

/* What was written, if that is to appear. */
static void tell_output(const struct thread *t)
{
    const struct record_said *s;
    while ((s = (const struct record_said *)cursor_peek_also(RECORD_SAID, RECORD_DID)) &&
           s->r.kind == RECORD_SAID) {
        if (s->r.bytes < sizeof *s || s->bytes > s->r.bytes - sizeof *s || s->to < OUTPUT_OUT ||
            s->to > OUTPUT_TERMINAL)
            nonsense();
        journal_output(t, (int)s->to, s->fd, (gaddr)(s + 1), s->bytes);
        cursor_next();
    }
}

static const struct record_did *next_did(void)
{
    const struct record_did *d =
        (const struct record_did *)cursor_peek_also(RECORD_DID, RECORD_DID);
    if (d &&
        (d->r.bytes < sizeof *d || d->frames > (d->r.bytes - sizeof *d) / sizeof(struct gap_frame)))
        nonsense();
    return d;
}

/* For a trace: what the threads did, `t` first. */
static void tell_threads(struct thread *t)
{
    const struct record_did *d = next_did();
    const bool own = d && d->thread == t->number;
    bool changed = false;
    for (uint32_t i = 0; i < gap.head.threads; i++)
        changed |= !gap.thread[i].ended;
    if (!d && changed)
        post_failed("an older drdebug has made this recording, which leaves instructions out and "
                    "cannot be traced: `drdebug relog` makes it again");
    flow_gap_ends(t, gap.head.insns, own ? d : NULL);
    if (own)
        cursor_next();
    for (; (d = next_did()); cursor_next()) {
        struct thread *other = post_thread(d->thread);
        if (!other || other == t)
            nonsense();
        flow_gap_did(other, d);
    }
    flow_gap_told(t);
}

_Noreturn void gap_cross(struct thread *t)
{
    traced = instrument && instrument->flow;
    take_head();
    stops_gap(t, gap.thread, gap.head.threads);
    play_save(t);
    hot_forget(t);
    if (traced)
        flow_gap_begins(t);
    cursor_next();
    state_change_begin();
    for (uint32_t i = 0; i < gap.head.records; i++) {
        const struct record *r = cursor_peek();
        if (!r)
            nonsense();
        take(r);
        cursor_next();
    }
    tell_output(t);
    if (gap.head.made < engine.thread_count)
        nonsense();
    engine.threads_made = gap.head.made;
    space_heap_ends(gap.head.heap_end);
    struct thread *next = post_thread(gap.head.thread);
    if (!next)
        nonsense();
    if (traced)
        tell_threads(t);
    while (next_did())
        cursor_next();
    end_threads();
    state_change_end();
    play_resume(t, next);
    flow_gap_over();
    stops_behind_gap(next);
    engine_run(next);
}
