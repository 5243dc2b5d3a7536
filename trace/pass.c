/* pass.c - one pass forwards over a trace. SPDX-License-Identifier: MIT */
#include "trace/pass.h"

#include <stdlib.h>

#include "trace/index.h"

int pass_init(struct pass *p, struct trace *trace, struct err *err)
{
    *p = (struct pass){.trace = trace};
    trace_walk_begin(&p->at, trace, &p->chunk, 0);
    p->state = calloc(trace_threads(trace) + 1, sizeof *p->state);
    p->seen = calloc(trace_threads(trace) + 1, sizeof *p->seen);
    if (!p->state || !p->seen)
        err_set(err, "no memory");
    else if (!frames_init(&p->frames, trace, err))
        return 0;
    pass_deinit(p);
    return -1;
}

void pass_deinit(struct pass *p)
{
    frames_deinit(&p->frames);
    trace_chunk_deinit(&p->chunk);
    free(p->state);
    free(p->seen);
    *p = (struct pass){0};
}

static const struct code_block *block_of(const struct pass *p, const struct trace_step *s)
{
    return code_block(trace_code(p->trace), s->block);
}

/* The step that was told last is over. */
static void leave(struct pass *p)
{
    if (!p->open)
        return;
    const struct trace_step *s = p->at.step;
    frames_leave(&p->frames, s, block_of(p, s), p->chunk.value + s->value_at,
                 p->chunk.first_insn + s->insn_at);
    p->open = false;
}

static int take_note(struct pass *p, struct err *err)
{
    const struct flow_note *n = p->at.note;
    trace_state_take(&p->state[p->at.thread], &p->seen[p->at.thread], trace_code(p->trace),
                     &p->chunk, p->at.next_step, p->at.thread, n);
    if (p->note && p->note(p->arg, p, err))
        return -1;
    if (n->kind != FLOW_THREAD && frames_note(&p->frames, p->at.thread, n))
        return err_set(err, "no memory");
    return 0;
}

/* Goes on to the next step of the chunk, past notes. 1, 0 behind the last one, -1. */
static int next_step(struct pass *p, struct err *err)
{
    while (trace_walk_next(&p->at)) {
        if (p->at.step)
            return 1;
        if (take_note(p, err))
            return -1;
    }
    return 0;
}

static int read_chunk(struct pass *p, uint32_t chunk, uint32_t thread, struct err *err)
{
    if (trace_read(p->trace, chunk, &p->chunk, err))
        return -1;
    p->next_chunk = chunk + 1;
    trace_walk_begin(&p->at, p->trace, &p->chunk, thread);
    return 0;
}

/* The threads' ticks when the chunk begins that was just read. */
static void take_states(struct pass *p)
{
    for (uint32_t i = 0; i < trace_threads(p->trace); i++) {
        p->state[i] = i < p->chunk.threads ? p->chunk.state[i] : (struct trace_state){0};
        p->seen[i] = p->state[i].last || p->state[i].count;
    }
}

int pass_start(struct pass *p, struct trace *trace, uint32_t chunk, struct err *err)
{
    if (pass_init(p, trace, err))
        return -1;
    if (chunk >= trace_chunks(trace))
        return 0;
    if (read_chunk(p, chunk, 0, err)) {
        pass_deinit(p);
        return -1;
    }
    take_states(p);
    return 0;
}

int pass_seek(struct pass *p, struct trace_index *s, uint32_t chunk, struct err *err)
{
    struct frames frames;
    if (trace_index_reach(s, chunk, err))
        return -1;
    frames_forget(&s->scan.chunk[chunk].start);
    if (frames_copy(&frames, &s->scan.chunk[chunk].start, err))
        return -1;
    frames_deinit(&p->frames);
    p->frames = frames;
    if (read_chunk(p, chunk, s->scan.chunk[chunk].thread, err))
        return -1;
    take_states(p);
    p->open = false;
    return 0;
}

int pass_skip(struct pass *p, struct trace_index *s, uint64_t insn, struct err *err)
{
    uint32_t chunk = p->next_chunk;
    if (chunk >= trace_chunks(p->trace) || trace_chunk_first(p->trace, chunk) > insn)
        return 0;
    while (chunk + 1 < trace_chunks(p->trace) && trace_chunk_first(p->trace, chunk + 1) <= insn)
        chunk++;
    return pass_seek(p, s, chunk, err);
}

int pass_next(struct pass *p, struct pass_step *out, struct err *err)
{
    int more;
    leave(p);
    while ((more = next_step(p, err)) == 0) {
        if (p->next_chunk == trace_chunks(p->trace))
            return 0;
        if (read_chunk(p, p->next_chunk, p->at.thread, err))
            return -1;
    }
    if (more < 0)
        return -1;
    const struct trace_step *s = p->at.step;
    const struct code_block *b = block_of(p, s);
    p->seen[s->thread] = true;
    p->open = true;
    trace_state_enter(&p->state[s->thread], trace_code(p->trace), b->pc);
    p->state[s->thread].last = b->number + 1;
    enum frames_effect effect;
    struct frame *f = frames_enter(&p->frames, s->thread, b, b->pc, &effect);
    if (!f)
        return err_set(err, "no memory");
    *out = (struct pass_step){.step = s,
                              .block = b,
                              .values = p->chunk.value + s->value_at,
                              .frame = f,
                              .insn = p->chunk.first_insn + s->insn_at,
                              .count = p->state[s->thread].count};
    return 1;
}
