/* pass.c - one pass forwards over a trace. SPDX-License-Identifier: MIT */
#include "slicer/pass.h"

#include <stdlib.h>

#include "slicer/slice_private.h"

int pass_init(struct pass *p, struct trace *trace, struct err *err)
{
    *p = (struct pass){.trace = trace};
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
    const struct trace_step *s = &p->chunk.step[p->step - 1];
    frames_leave(&p->frames, s, block_of(p, s), p->chunk.value + s->value_at,
                 p->chunk.first_insn + s->insn_at);
    p->open = false;
}

static int take_note(struct pass *p, const struct flow_note *n, struct err *err)
{
    if (n->kind == FLOW_THREAD)
        p->thread = trace_thread_find(p->trace, ((const struct flow_thread *)n)->thread);
    trace_state_take(&p->state[p->thread], &p->seen[p->thread], trace_code(p->trace), &p->chunk,
                     p->step, p->thread, n);
    if (n->kind != FLOW_THREAD && frames_note(&p->frames, p->thread, n))
        return err_set(err, "no memory");
    return 0;
}

static int take_notes(struct pass *p, struct err *err)
{
    for (; p->note < p->chunk.notes && p->chunk.note[p->note].step == p->step; p->note++)
        if (take_note(p, trace_note(&p->chunk, p->note), err))
            return -1;
    return 0;
}

int pass_seek(struct pass *p, struct slicer *s, uint32_t chunk, struct err *err)
{
    struct frames frames;
    if (slicer_scan(s, NULL, err))
        return -1;
    frames_forget(&s->scan.chunk[chunk].start);
    if (frames_copy(&frames, &s->scan.chunk[chunk].start, err))
        return -1;
    frames_deinit(&p->frames);
    p->frames = frames;
    if (trace_read(p->trace, chunk, &p->chunk, err))
        return -1;
    for (uint32_t i = 0; i < trace_threads(p->trace); i++) {
        p->state[i] = i < p->chunk.threads ? p->chunk.state[i] : (struct trace_state){0};
        p->seen[i] = p->state[i].last || p->state[i].count;
    }
    p->thread = s->scan.chunk[chunk].thread;
    p->next_chunk = chunk + 1;
    p->step = p->note = 0;
    p->open = false;
    return take_notes(p, err);
}

int pass_skip(struct pass *p, struct slicer *s, uint64_t insn, struct err *err)
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
    leave(p);
    if (take_notes(p, err))
        return -1;
    while (p->step == p->chunk.steps) {
        if (p->next_chunk == trace_chunks(p->trace))
            return 0;
        if (trace_read(p->trace, p->next_chunk++, &p->chunk, err))
            return -1;
        p->step = p->note = 0;
        if (take_notes(p, err))
            return -1;
    }
    const struct trace_step *s = &p->chunk.step[p->step++];
    const struct code_block *b = block_of(p, s);
    p->thread = s->thread;
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
