/* extend.c - a trace goes on: what was recorded since comes behind it.
 *
 * SPDX-License-Identifier: MIT
 *
 * The old trace is turned into the streams again that it was made of (debug/flow.h). The collector
 * learns from them all that it knew when they came, which is more than the file says.
 */
#include "trace/extend.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/walk.h"

/* The step where a replay goes on. */
struct seam {
    uint32_t chunk, step;
    struct position at;
};

/* ---- where ---- */

struct search {
    struct trace *trace;
    struct trace_state *state; /* by thread, as in trace_step.thread */
    bool *seen;
    const struct trace_step *before; /* the step was met right before */
    uint32_t stopped;                /* the thread that ran last ... */
    uint64_t count;                  /* ... and its count at the last of its steps */
    bool ticked;                     /* its last tick has been met, or comes later */
    struct seam last, *seam;         /* the last one met; before that tick */
    bool met, found;
};

static int pass_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct search *s = arg;
    (void)err;
    s->before = NULL;
    trace_state_take(&s->state[w->thread], &s->seen[w->thread], trace_code(s->trace), w->chunk,
                     w->next_step, w->thread, w->note);
    return 0;
}

static int pass_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct search *s = arg;
    const struct code_block *b = code_block(trace_code(s->trace), w->step->block);
    struct trace_state *state = &s->state[w->thread];
    const uint64_t count = state->count;
    (void)err;
    s->seen[w->thread] = true;
    trace_state_enter(state, trace_code(s->trace), b->pc);
    state->last = b->number + 1;
    if (s->before && s->before->thread == w->thread && state->count > count) {
        s->met = true;
        s->last = (struct seam){
            w->chunk->number,
            trace_walk_steps(w),
            {.thread = trace_thread(s->trace, w->thread), .count = state->count, .pc = b->pc}};
    }
    if (w->thread == s->stopped && state->count > s->count) {
        s->count = state->count;
        s->ticked = true;
        s->found = s->met;
        *s->seam = s->last;
    }
    s->before = w->step;
    return 0;
}

static int search_chunk(struct search *s, struct trace_chunk *c, uint32_t number, struct err *err)
{
    static const struct trace_visitor visitor = {pass_step, pass_note};
    const bool later = s->ticked;
    uint32_t thread = 0;
    if (trace_read(s->trace, number, c, err))
        return -1;
    s->before = NULL;
    s->met = false;
    s->count = s->stopped < c->threads ? c->state[s->stopped].count : 0;
    for (uint32_t i = 0; i < trace_threads(s->trace); i++) {
        s->state[i] = i < c->threads ? c->state[i] : (struct trace_state){0};
        s->seen[i] = s->state[i].last || s->state[i].count;
    }
    if (trace_walk_chunk(s->trace, c, &thread, &visitor, s, err))
        return -1;
    if (later) {
        s->found = s->met;
        *s->seam = s->last;
    }
    return 0;
}

/* Which thread runs when the trace ends. */
static int find_stopped(struct search *s, struct trace_chunk *c, struct err *err)
{
    struct trace_walk w;
    if (trace_read(s->trace, trace_chunks(s->trace) - 1, c, err))
        return -1;
    trace_walk_begin(&w, s->trace, c, 0);
    while (trace_walk_next(&w))
        ;
    s->stopped = w.thread;
    return 0;
}

/* The last one: 1, 0 if there is none, -1. */
static int find_seam(struct trace *old, struct seam *seam, struct err *err)
{
    struct trace_chunk c = {0};
    const size_t threads = trace_threads(old) + 1u;
    struct search s = {.trace = old,
                       .state = calloc(threads, sizeof *s.state),
                       .seen = calloc(threads, sizeof *s.seen),
                       .seam = seam};
    int bad = s.state && s.seen ? 0 : err_set(err, "no memory");
    if (!bad && trace_chunks(old))
        bad = find_stopped(&s, &c, err);
    for (uint32_t i = trace_chunks(old); !bad && !s.found && i > 0; i--)
        bad = search_chunk(&s, &c, i - 1, err);
    trace_chunk_deinit(&c);
    free(s.state);
    free(s.seen);
    return bad ? -1 : s.found;
}

/* ---- streams ---- */

struct streams {
    uint64_t *word;
    size_t words, word_room;
    uint8_t *note;
    size_t bytes, note_room;
    uint64_t before; /* words that were handed over */
};

/* A note of so many bytes, behind the words so far. NULL: no memory. */
static void *add_note(struct streams *s, const struct flow_note *like, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    if (array_reserve(&s->note, &s->note_room, s->bytes + bytes))
        return NULL;
    struct flow_note *n = (struct flow_note *)(s->note + s->bytes);
    memset(n, 0, bytes);
    memcpy(n, like, like->bytes < bytes ? like->bytes : bytes);
    n->bytes = (uint32_t)bytes;
    n->at = s->before + s->words;
    s->bytes += bytes;
    return n;
}

static bool add_block(struct streams *s, const struct code_block *b)
{
    const struct flow_block like = {.note = {.kind = FLOW_BLOCK, .bytes = sizeof like},
                                    .number = b->number,
                                    .insns = b->insns,
                                    .pc = b->pc};
    uint8_t *note = add_note(s, &like.note, sizeof like + b->insns + (size_t)(b->end - b->pc));
    if (!note)
        return false;
    uint8_t *len = note + sizeof like, *byte = len + b->insns;
    for (uint32_t i = 0; i < b->insns; byte += b->insn[i++].in.len) {
        len[i] = b->insn[i].in.len;
        memcpy(byte, b->insn[i].in.bytes, len[i]);
    }
    return true;
}

static bool add_step(struct streams *s, const struct trace_walk *w, const struct code_block *b)
{
    if (array_reserve(&s->word, &s->word_room, s->words + 1 + b->slots))
        return false;
    s->word[s->words++] = b->number;
    memcpy(s->word + s->words, w->chunk->value + w->step->value_at, 8u * b->slots);
    s->words += b->slots;
    return true;
}

static int hand_over(struct streams *s, struct collector *c, struct err *err)
{
    int bad = collector_take(c, s->word, 8 * s->words, s->note, s->bytes, err);
    s->before += s->words;
    s->words = s->bytes = 0;
    return bad;
}

/* What a chunk holds before a step, with the notes in front of that. */
static int add_chunk(struct streams *s, struct trace *old, const struct trace_chunk *chunk,
                     uint32_t steps, struct err *err)
{
    struct trace_walk w;
    trace_walk_begin(&w, old, chunk, 0);
    while (trace_walk_next(&w) && !(w.step && trace_walk_steps(&w) == steps)) {
        bool good = w.step ? add_step(s, &w, code_block(trace_code(old), w.step->block))
                           : add_note(s, w.note, w.note->bytes) != NULL;
        if (!good)
            return err_set(err, "no memory");
    }
    return 0;
}

static int hand_over_all(struct streams *s, struct collector *c, struct trace *old,
                         const struct seam *seam, struct err *err)
{
    struct trace_chunk chunk = {0};
    const struct code *code = trace_code(old);
    int bad = 0;
    for (uint32_t i = 0; !bad && i < code_count(code); i++)
        bad = add_block(s, code_block(code, i)) ? 0 : err_set(err, "no memory");
    for (uint32_t i = 0; !bad && i <= seam->chunk; i++) {
        bad = trace_read(old, i, &chunk, err) ||
              add_chunk(s, old, &chunk, i < seam->chunk ? UINT32_MAX : seam->step, err) ||
              hand_over(s, c, err);
    }
    trace_chunk_deinit(&chunk);
    return bad ? -1 : 0;
}

int extend_begin(struct collector *c, struct trace *old, struct position *at, struct err *err)
{
    struct streams s = {0};
    struct seam seam;
    const int found = find_seam(old, &seam, err);
    if (found != 1)
        return found;
    const int bad = hand_over_all(&s, c, old, &seam, err);
    free(s.word);
    free(s.note);
    collector_go_on(c);
    *at = seam.at;
    return bad ? -1 : 1;
}
