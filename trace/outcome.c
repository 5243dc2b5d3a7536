/* outcome.c - which ways some transfers of control went. SPDX-License-Identifier: MIT */
#include "trace/outcome.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "trace/walk.h"

/* A thread that has left a block by a transfer that is wanted. */
struct left {
    bool waits;
    uint64_t insn;
    struct position at;
};

struct pass {
    struct trace *trace;
    struct code *code;
    const gaddr *pc;
    size_t pcs;
    struct outcome *executed; /* of outcome_executed() */
    uint8_t *wanted;          /* by block: 1 yes, 2 no, 0 not looked at yet */
    struct trace_state *state;
    bool *seen;
    struct left *left;
    struct outcome *list;
    size_t count, room;
};

static bool is_wanted(struct pass *p, const struct code_block *b)
{
    uint8_t *known = &p->wanted[b->number];
    if (!*known) {
        gaddr pc = code_last(b)->pc;
        const size_t at = search_first(p->pcs, i, p->pc[i] < pc);
        *known = at < p->pcs && p->pc[at] == pc ? 1 : 2;
    }
    return *known == 1;
}

/* There are few of them: ways of some branches. */
static int went(struct pass *p, struct left *l, gaddr next, struct err *err)
{
    size_t i = 0;
    while (i < p->count && (p->list[i].pc != l->at.pc || p->list[i].next != next))
        i++;
    if (i == p->count &&
        array_push(&p->list, &p->count, &p->room, (struct outcome){.pc = l->at.pc, .next = next}))
        return err_set(err, "no memory");
    p->list[i].count++;
    p->list[i].last = l->insn;
    p->list[i].at = l->at;
    l->waits = false;
    return 0;
}

/* Follows the thread's ticks. */
static struct position enter(struct pass *p, const struct trace_walk *w, const struct code_block *b)
{
    struct trace_state *state = &p->state[w->step->thread];
    p->seen[w->step->thread] = true;
    trace_state_enter(state, p->code, b->pc);
    state->last = b->number + 1;
    return (struct position){.thread = trace_thread(p->trace, w->step->thread),
                             .count = state->count};
}

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct trace_step *st = w->step;
    const struct code_block *b = code_block(p->code, st->block);
    struct left *l = &p->left[st->thread];
    struct position at = enter(p, w, b);
    if (l->waits && went(p, l, b->pc, err))
        return -1;
    if (st->insns == b->insns && is_wanted(p, b)) {
        at.pc = code_last(b)->pc;
        *l = (struct left){.waits = true, .insn = w->insns + st->insns - 1u, .at = at};
    }
    return 0;
}

/* A signal comes between a transfer and where that led. */
static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    struct left *l = &p->left[w->thread];
    trace_state_take(&p->state[w->thread], &p->seen[w->thread], p->code, w->chunk, w->next_step,
                     w->thread, w->note);
    if (w->note->kind == FLOW_SIGNAL && l->waits)
        return went(p, l, ((const struct flow_signal *)w->note)->pc, err);
    return 0;
}

static int by_pc(const void *a, const void *b)
{
    const struct outcome *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->next < y->next ? -1 : x->next > y->next;
}

/* Runs a visitor over all of it, with what it needs. */
static int run(struct pass *p, const struct trace_visitor *v, struct err *err)
{
    uint32_t threads = trace_threads(p->trace) + 1;
    p->wanted = calloc(code_count(p->code) + 1, 1);
    p->state = calloc(threads, sizeof *p->state);
    p->seen = calloc(threads, sizeof *p->seen);
    p->left = calloc(threads, sizeof *p->left);
    int bad = p->wanted && p->state && p->seen && p->left ? 0 : err_set(err, "no memory");
    if (!bad)
        bad = trace_walk_all(p->trace, 0, v, p, err);
    free(p->wanted);
    free(p->state);
    free(p->seen);
    free(p->left);
    return bad;
}

int outcome_pass(struct trace *trace, const gaddr *pc, size_t n, struct outcome **out,
                 size_t *outcomes, struct err *err)
{
    static const struct trace_visitor visitor = {take_step, take_note};
    struct pass p = {.trace = trace, .code = trace_code(trace), .pc = pc, .pcs = n};
    if (run(&p, &visitor, err)) {
        free(p.list);
        return -1;
    }
    if (p.count)
        qsort(p.list, p.count, sizeof *p.list, by_pc);
    *out = p.list;
    *outcomes = p.count;
    return 0;
}

/* ---- one instruction ---- */

/* p->wanted: the instruction's index in the block, plus one; 255: it is not there. */
static int count_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct code_block *b = code_block(p->code, w->step->block);
    struct position at = enter(p, w, b);
    uint8_t *index = &p->wanted[b->number];
    (void)err;
    for (unsigned i = 0; !*index && i < b->insns; i++)
        if (b->insn[i].in.pc == *p->pc)
            *index = (uint8_t)(i + 1);
    if (!*index)
        *index = 255;
    if (*index <= w->step->insns) {
        at.pc = *p->pc;
        p->executed->count++;
        p->executed->last = w->insns + *index - 1u;
        p->executed->at = at;
    }
    return 0;
}

int outcome_executed(struct trace *trace, gaddr pc, struct outcome *out, struct err *err)
{
    static const struct trace_visitor visitor = {count_step, take_note};
    struct pass p = {
        .trace = trace, .code = trace_code(trace), .pc = &pc, .pcs = 1, .executed = out};
    *out = (struct outcome){.pc = pc};
    return run(&p, &visitor, err);
}
