/* summary.c - what a recording amounts to: the text of `end`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "pinball/ends.h"
#include "pinball/marks.h"
#include "pinball/record_at.h"
#include "pinball/records.h"

/* Threads are numbered as they come, so new ones belong near the end of the list. */
enum { MAX_SHIFT = 4096, MAX_THREADS = 1 << 24 };

/* The thread's row, made if it is new; NULL without memory, or if no recorder would make it. */
static struct summary_thread *row(struct summary *s, uint32_t thread)
{
    const size_t low = search_below(s->thread, s->threads, thread, thread);

    if (low < s->threads && s->thread[low].thread == thread)
        return &s->thread[low];
    if (s->threads - low > MAX_SHIFT || s->threads == MAX_THREADS)
        return NULL;
    if (array_append(&s->thread, &s->threads, (struct summary_thread){0}))
        return NULL;
    memmove(&s->thread[low + 1], &s->thread[low], (s->threads - 1 - low) * sizeof *s->thread);
    s->thread[low] = (struct summary_thread){thread, 0};
    return &s->thread[low];
}

static void count(struct summary *s, uint64_t ticks, uint64_t pc)
{
    s->count = ticks;
    s->pc = pc;
    struct summary_thread *t = row(s, s->running);

    if (t && ticks > t->count)
        t->count = ticks;
}

static void end(struct summary *s, const struct record_end *r)
{
    s->last = r->ticks;
    s->ended = true;
    s->reason = r->reason;
    s->status = r->status;
}

/* A thread that is there when the recording begins, or behind a gap. */
static void state(struct summary *s, const struct record_state *r)
{
    const uint32_t running = s->running;

    s->running = r->thread;
    count(s, r->at.count, r->at.pc);
    if (s->gaps) {
        s->running = running;
        return;
    }
    s->begin_ticks += r->at.count;
    s->running = r->r.flags & STATE_RUNS ? r->thread : running;
    if (!(r->r.flags & STATE_RUNS))
        return;
    s->in_middle = true;
    s->begin = (struct summary_thread){r->thread, r->at.count};
    s->begin_pc = r->at.pc;
}

static void gap(struct summary *s, const struct record_gap *r)
{
    s->running = r->thread;
    s->gaps++;
    s->left_out += r->insns;
}

static void mark(struct summary *s, const struct record_mark *r)
{
    const uint64_t room = r->r.bytes - sizeof *r;

    if (s->marks < SUMMARY_MARKS)
        s->mark[s->marks] = (struct summary_mark){
            .thread = s->running,
            .count = r->at.count,
            .pc = r->at.pc,
            .kind = r->r.flags,
            .text = strndup((const char *)(r + 1), r->bytes < room ? r->bytes : room)};
    s->marks++;
}

static void add(struct summary *s, const struct record *r)
{
    s->records++;
    if (r->kind >= RECORD_SKIPPABLE)
        return;
    s->ended = false; /* an execve that failed, or a next program */
    if (r->bytes < records_least(r->kind))
        return;
    switch (r->kind) {
    case RECORD_IMAGE:
        s->running = ((const struct record_image *)r)->thread;
        s->before += s->last;
        break;
    case RECORD_START:
        row(s, s->running);
        break;
    case RECORD_BEGIN:
        row(s, ((const struct record_begin *)r)->thread);
        break;
    case RECORD_PROCESS:
        if (!s->gaps)
            s->begin_ticks = ((const struct record_process *)r)->ticks;
        break;
    case RECORD_STATE:
        state(s, (const struct record_state *)r);
        break;
    case RECORD_SWITCH:
        s->running = ((const struct record_switch *)r)->thread;
        break;
    case RECORD_SIGNAL:
    case RECORD_FAULT:
        s->signals++;
        break;
    case RECORD_POKE:
        s->changes++;
        break;
    case RECORD_MARK:
        mark(s, (const struct record_mark *)r);
        break;
    case RECORD_END:
        end(s, (const struct record_end *)r);
        break;
    default:
        break;
    }
    const struct record_at *at = record_at(r);
    if (at && r->kind != RECORD_STATE) /* that may be another thread's */
        count(s, at->count, at->pc);
    if (r->kind == RECORD_GAP)
        gap(s, (const struct record_gap *)r);
}

void summary_add(struct summary *summary, const void *records, size_t bytes)
{
    const void *stop = (const char *)records + bytes;

    for (const struct record *r = records_first(records, bytes); r; r = records_next(r, stop))
        add(summary, r);
}

uint64_t summary_ticks(const struct summary *summary)
{
    uint64_t ticks = 0;

    for (size_t i = 0; i < summary->threads; i++)
        ticks += summary->thread[i].count;
    return ticks > summary->at_least ? ticks : summary->at_least;
}

void summary_last(struct summary *summary, const struct ring_last *last)
{
    if (summary->ended || !last->thread)
        return;
    if (last->thread == summary->running && last->count >= summary->count)
        count(summary, last->count, last->pc);
    summary->at_least = summary->before + last->ticks;
}

static void add_marks(const struct summary *s, struct text *text)
{
    if (s->marks)
        text_addf(text, "marks", "%llu", (unsigned long long)s->marks);
    for (size_t i = 0; i < s->marks && i < SUMMARY_MARKS; i++) {
        const struct summary_mark *m = &s->mark[i];
        text_addf(text, "mark", "T%u:%llu:%llx %s: %s", m->thread, (unsigned long long)m->count,
                  (unsigned long long)m->pc, marks_name(m->kind), m->text ? m->text : "");
    }
}

void summary_text(const struct summary *summary, struct text *text)
{
    text_add(text, "reason", ends_name(summary->reason));
    text_addf(text, "status", "%d", summary->status);
    text_addf(text, "threads", "%zu", summary->threads);
    text_addf(text, "ticks", "%llu",
              (unsigned long long)(summary->ended ? summary->before + summary->last
                                                  : summary_ticks(summary)));
    text_addf(text, "last_thread", "%u", summary->running);
    text_addf(text, "position", "T%u:%llu:%llx", summary->running,
              (unsigned long long)summary->count, (unsigned long long)summary->pc);
    text_addf(text, "records", "%llu", (unsigned long long)summary->records);
    text_addf(text, "signals", "%llu", (unsigned long long)summary->signals);
    text_addf(text, "isa", "%llx", (unsigned long long)summary->isa);
    if (summary->in_middle) {
        text_addf(text, "begin", "T%u:%llu:%llx", summary->begin.thread,
                  (unsigned long long)summary->begin.count, (unsigned long long)summary->begin_pc);
        text_addf(text, "begin_ticks", "%llu", (unsigned long long)summary->begin_ticks);
    }
    if (summary->gaps) {
        text_addf(text, "gaps", "%llu", (unsigned long long)summary->gaps);
        text_addf(text, "left_out", "%llu", (unsigned long long)summary->left_out);
    }
    if (summary->changes)
        text_addf(text, "changes", "%llu", (unsigned long long)summary->changes);
    add_marks(summary, text);
}

void summary_deinit(struct summary *summary)
{
    for (size_t i = 0; i < summary->marks && i < SUMMARY_MARKS; i++)
        free(summary->mark[i].text);
    free(summary->thread);
    *summary = (struct summary){0};
}
