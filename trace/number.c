/* number.c - which instruction of a trace a position is. SPDX-License-Identifier: MIT */
#include "trace/number.h"

#include "trace/walk.h"

/* Is the position not before the chunk? Between two ticks of a thread its pc only grows. */
static bool begins_before(const struct trace *t, const struct trace_chunk *c, uint32_t thread,
                          const struct position *at)
{
    if (thread >= c->threads || c->state[thread].count < at->count)
        return true;
    const struct trace_state *s = &c->state[thread];
    const struct code_block *last =
        s->last ? code_block(trace_code((struct trace *)t), s->last - 1) : NULL;
    return s->count == at->count && last && last->end <= at->pc;
}

int number_chunk(struct trace *t, const struct position *at, uint32_t *chunk, struct err *err)
{
    struct trace_chunk c = {0};
    uint32_t thread = trace_thread_find(t, at->thread);
    uint32_t lo = 0, hi = trace_chunks(t);
    int bad = 0;
    while (!bad && lo + 1 < hi) {
        uint32_t mid = (lo + hi) / 2;
        bad = trace_read(t, mid, &c, err);
        if (!bad && begins_before(t, &c, thread, at))
            lo = mid;
        else
            hi = mid;
    }
    trace_chunk_deinit(&c);
    *chunk = lo;
    return bad;
}

/* A thread on its way through a trace. */
struct follower {
    struct trace *trace;
    const struct position *at;
    uint32_t thread, running; /* as in trace_step.thread */
    struct trace_state state;
    bool seen;
    bool near;       /* it has come to the instruction, without executing it: ... */
    uint64_t number; /* ... here */
};

/* What a walk ends with: FAILED is an error. */
enum { FAILED = -1, FOUND = 1, BEHIND };

static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct follower *f = arg;
    (void)err;
    if (w->thread == f->thread)
        trace_state_take(&f->state, &f->seen, trace_code(f->trace), w->chunk, w->next_step,
                         f->thread, w->note);
    return 0;
}

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct follower *f = arg;
    const struct trace_step *s = w->step;
    (void)err;
    const struct code_block *b = code_block(trace_code(f->trace), s->block);
    if (s->thread != f->thread)
        return 0;
    f->seen = true;
    trace_state_enter(&f->state, trace_code(f->trace), b->pc);
    f->state.last = b->number + 1;
    if (f->state.count != f->at->count)
        return f->state.count > f->at->count ? BEHIND : 0;
    for (uint32_t i = 0; i <= s->insns && i < b->insns; i++)
        if (b->insn[i].in.pc == f->at->pc) {
            f->near = true;
            f->number = w->insns + i;
            return i < s->insns ? FOUND : 0;
        }
    return 0;
}

static int search(struct follower *f, struct trace_chunk *c, uint32_t chunk, struct err *err)
{
    static const struct trace_visitor visitor = {take_step, take_note};
    if (trace_read(f->trace, chunk, c, err))
        return FAILED;
    if (f->thread < c->threads) {
        f->state = c->state[f->thread];
        f->seen = f->state.last || f->state.count;
    }
    return trace_walk_chunk(f->trace, c, &f->running, &visitor, f, err);
}

int number_find(struct trace *t, const struct position *at, uint64_t *number, struct err *err)
{
    struct trace_chunk c = {0};
    struct follower f = {.trace = t, .at = at, .thread = trace_thread_find(t, at->thread)};
    uint32_t first, chunk;
    if (position_check(at, err))
        return -1;
    if (!trace_threads(t) || trace_thread(t, f.thread) != at->thread)
        return 0;
    if (number_chunk(t, at, &first, err))
        return -1;
    int found = 0;
    /* The chunk before tells which thread runs when it begins. */
    for (chunk = first ? first - 1 : 0; chunk < trace_chunks(t) && !found; chunk++)
        found = search(&f, &c, chunk, err);
    trace_chunk_deinit(&c);
    if (found == FAILED)
        return -1;
    *number = f.number;
    return f.near;
}
