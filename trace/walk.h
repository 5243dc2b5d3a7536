/* walk.h - one way through a chunk of a trace: its notes and steps, in either direction.
 *
 * SPDX-License-Identifier: MIT
 *
 * A walk stands between two of them. A note is told where it happened: before the step that it
 * precedes, with the thread that runs there. A call's note comes behind the step that made it. All
 * that is inline, since passes over a trace do little for each step.
 *
 *     trace_walk_begin(&w, trace, &chunk, thread);
 *     while (trace_walk_next(&w))
 *         w.step ? do_step(w.step, w.thread) : do_note(w.note, w.thread, w.insns);
 *
 * Backwards it is trace_walk_end() and trace_walk_prev(), which tell the same of each. A caller
 * that wants all of a trace, forwards, gives trace_walk_all() a visitor.
 */
#ifndef TRACE_WALK_H
#define TRACE_WALK_H

#include "trace/trace.h"

struct trace_walk {
    const struct trace *trace;
    const struct trace_chunk *chunk;
    uint32_t next_step, next_note; /* behind the place where it stands */
    uint32_t thread;               /* that runs, as in trace_step.thread */
    const struct trace_step *step; /* what was met: this, ... */
    const struct flow_note *note;  /* ... or this */
    uint64_t insns;                /* executed before it */
    uint32_t begins;               /* the thread that runs when the chunk begins */
    uint32_t same; /* backwards: notes from this one on, before that step, are of w->thread */
};

/* `thread` runs when the chunk begins. */
static inline void trace_walk_begin(struct trace_walk *w, const struct trace *trace,
                                    const struct trace_chunk *chunk, uint32_t thread)
{
    *w = (struct trace_walk){.trace = trace, .chunk = chunk, .thread = thread, .begins = thread};
}

/* Stands behind the chunk. `thread` runs when it begins. */
static inline void trace_walk_end(struct trace_walk *w, const struct trace *trace,
                                  const struct trace_chunk *chunk, uint32_t thread)
{
    trace_walk_begin(w, trace, chunk, thread);
    w->next_step = chunk->steps;
    w->next_note = w->same = chunk->notes;
}

/* Steps of the chunk before the note or step that was met, that one not counted. */
static inline uint32_t trace_walk_steps(const struct trace_walk *w)
{
    return w->step ? (uint32_t)(w->step - w->chunk->step) : w->next_step;
}

/* Note number i of those that come before the next step; NULL: there are no more. */
static inline const struct flow_note *trace_walk_ahead(const struct trace_walk *w, uint32_t i)
{
    const struct trace_chunk *c = w->chunk;
    return i < c->notes - w->next_note && c->note[w->next_note + i].step == w->next_step
               ? trace_note(c, w->next_note + i)
               : NULL;
}

/* What the step was just met stands for, if the recording leaves instructions out there; else NULL.
 */
static inline const struct flow_call *trace_walk_left_out(const struct trace_walk *w)
{
    const struct flow_note *n = trace_walk_ahead(w, 0);
    const struct flow_call *c = (const struct flow_call *)n;
    return n && n->kind == FLOW_CALL && flow_is_left_out(c) ? c : NULL;
}

static inline uint32_t trace_walk_named(const struct trace_walk *w, const struct flow_note *n)
{
    return trace_thread_find(w->trace, ((const struct flow_thread *)n)->thread);
}

static inline uint64_t trace_walk_insns(const struct trace_chunk *c, uint32_t step)
{
    return c->first_insn + (step < c->steps ? c->step[step].insn_at : c->insns);
}

/* False: the chunk is over, and w->thread runs. */
static inline bool trace_walk_next(struct trace_walk *w)
{
    const struct trace_chunk *c = w->chunk;
    w->insns = trace_walk_insns(c, w->next_step);
    w->step = NULL;
    w->note = trace_walk_ahead(w, 0);
    if (w->note) {
        w->same = ++w->next_note;
        if (w->note->kind == FLOW_THREAD)
            w->thread = trace_walk_named(w, w->note);
        return true;
    }
    if (w->next_step == c->steps)
        return false;
    w->step = &c->step[w->next_step++];
    w->thread = w->step->thread;
    return true;
}

/* Looks back for the thread of the note before which the walk stands: a note names it, or the step
 * does that they follow. Each is looked at once, however many there are. */
static inline void trace_walk_back(struct trace_walk *w)
{
    const struct trace_chunk *c = w->chunk;
    w->thread = w->next_step ? c->step[w->next_step - 1].thread : w->begins;
    for (w->same = w->next_note; c->note[w->same].step == w->next_step; w->same--) {
        const struct flow_note *n = trace_note(c, w->same);
        if (n->kind == FLOW_THREAD) {
            w->thread = trace_walk_named(w, n);
            return;
        }
        if (!w->same)
            return;
    }
    w->same++;
}

/* False: the chunk's beginning. */
static inline bool trace_walk_prev(struct trace_walk *w)
{
    const struct trace_chunk *c = w->chunk;
    w->step = NULL;
    w->note = NULL;
    if (w->next_note && c->note[w->next_note - 1].step == w->next_step) {
        w->insns = trace_walk_insns(c, w->next_step);
        w->note = trace_note(c, --w->next_note);
        if (w->next_note < w->same)
            trace_walk_back(w);
        return true;
    }
    if (!w->next_step) {
        w->insns = c->first_insn;
        w->thread = w->begins;
        return false;
    }
    w->step = &c->step[--w->next_step];
    w->insns = trace_walk_insns(c, w->next_step);
    w->thread = w->step->thread;
    w->same = w->next_note;
    return true;
}

/* What is done with what is met. Not 0, which for an error is -1 with *err set, ends the walk. */
struct trace_visitor {
    int (*step)(void *arg, const struct trace_walk *w, struct err *err);
    int (*note)(void *arg, const struct trace_walk *w, struct err *err);
};

/* A whole chunk, forwards; *thread runs before it, and then after it. */
static inline int trace_walk_chunk(const struct trace *trace, const struct trace_chunk *chunk,
                                   uint32_t *thread, const struct trace_visitor *v, void *arg,
                                   struct err *err)
{
    struct trace_walk w;
    int end = 0;
    trace_walk_begin(&w, trace, chunk, *thread);
    while (!end && trace_walk_next(&w))
        end = w.step ? v->step(arg, &w, err) : v->note(arg, &w, err);
    *thread = w.thread;
    return end;
}

/* All chunks from `first` on. Returns 0, -1, or what a visitor ended it with. */
static inline int trace_walk_all(struct trace *trace, uint32_t first, const struct trace_visitor *v,
                                 void *arg, struct err *err)
{
    struct trace_chunk chunk = {0};
    uint32_t thread = 0;
    int end = 0;
    for (uint32_t i = first; !end && i < trace_chunks(trace); i++) {
        end = trace_read(trace, i, &chunk, err);
        if (!end)
            end = trace_walk_chunk(trace, &chunk, &thread, v, arg, err);
    }
    trace_chunk_deinit(&chunk);
    return end;
}

/* ---- ranges of a note: what a call or an odd access read and wrote ---- */

static inline const struct flow_range *trace_ranges(const struct flow_note *n, size_t *count)
{
    const struct flow_range *first = n->kind == FLOW_CALL ? ((const struct flow_call *)n)->range
                                     : n->kind == FLOW_ACCESS
                                         ? ((const struct flow_access *)n)->range
                                         : NULL;
    const size_t head = first ? (size_t)((const uint8_t *)first - (const uint8_t *)n) : 0;
    *count = first && n->bytes > head ? (n->bytes - head) / sizeof *first : 0;
    return first;
}

#endif
