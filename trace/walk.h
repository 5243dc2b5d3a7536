/* walk.h - one way through a chunk of a trace: its notes and steps, in either direction.
 *
 * SPDX-License-Identifier: MIT
 *
 * A note is told where it happened: before the step that it precedes, with the thread that runs
 * there. A call's note comes behind the step that made it. All that is inline, since passes over a
 * trace do little for each step.
 *
 *     trace_walk_begin(&w, trace, &chunk, thread);
 *     while (trace_walk_next(&w))
 *         w.step ? do_step(w.step, w.thread) : do_note(w.note, w.thread, w.insns);
 */
#ifndef TRACE_WALK_H
#define TRACE_WALK_H

#include "trace/trace.h"

struct trace_walk {
    const struct trace *trace;
    const struct trace_chunk *chunk;
    uint32_t next_step, next_note;
    uint32_t thread;               /* that runs, as in trace_step.thread */
    const struct trace_step *step; /* what was met: this, ... */
    const struct flow_note *note;  /* ... or this */
    uint64_t insns;                /* executed before it */
};

/* `thread` runs when the chunk begins. */
static inline void trace_walk_begin(struct trace_walk *w, const struct trace *trace,
                                    const struct trace_chunk *chunk, uint32_t thread)
{
    *w = (struct trace_walk){.trace = trace, .chunk = chunk, .thread = thread};
}

/* Steps of the chunk before the note or step that was met, that one not counted. */
static inline uint32_t trace_walk_steps(const struct trace_walk *w)
{
    return w->next_step - (w->step != NULL);
}

/* False: the chunk is over, and w->thread runs. */
static inline bool trace_walk_next(struct trace_walk *w)
{
    const struct trace_chunk *c = w->chunk;
    w->insns = c->first_insn + (w->next_step < c->steps ? c->step[w->next_step].insn_at : c->insns);
    w->step = NULL;
    w->note = NULL;
    if (w->next_note < c->notes && c->note[w->next_note].step == w->next_step) {
        w->note = trace_note(c, w->next_note++);
        if (w->note->kind == FLOW_THREAD)
            w->thread = trace_thread_find(w->trace, ((const struct flow_thread *)w->note)->thread);
        return true;
    }
    if (w->next_step == c->steps)
        return false;
    w->step = &c->step[w->next_step++];
    w->thread = w->step->thread;
    return true;
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
