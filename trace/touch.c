/* touch.c - who touched some memory. SPDX-License-Identifier: MIT
 *
 * Most accesses are of a few bytes at a slot's value plus a constant: of each block there is a list
 * of just that, made when the block is first met, and only what falls between the first and the
 * last wanted byte is looked at closely.
 */
#include "trace/touch.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "trace/access.h"
#include "trace/walk.h"

enum { NOT_SIMPLE = 255 };

struct brief {
    int64_t add;
    uint16_t slot, access;
    uint8_t insn, more; /* bytes - 1 */
};

/* What a thread did last. */
struct last {
    uint64_t insn, count;
    gaddr pc;
};

struct pass {
    const struct touch_visitor *v;
    struct trace *trace;
    struct code *code;
    struct touch_range *range; /* in order, none touching another */
    size_t ranges;
    gaddr low, high; /* all ranges are between them */
    struct brief **brief;
    uint16_t *briefs;
    struct trace_state *state;
    bool *seen;
    struct last *last;
};

static bool is_wanted(const struct pass *p, gaddr addr, uint64_t bytes)
{
    const size_t first = search_upto(p->range, p->ranges, end, addr); /* that ends behind addr */
    const struct touch_range *r = &p->range[first];
    return first < p->ranges && (addr >= r->start || r->start - addr < bytes);
}

static int tell(struct pass *p, struct touch t, struct err *err)
{
    if (!t.bytes || !is_wanted(p, t.addr, t.bytes))
        return 0;
    t.at.thread = trace_thread(p->trace, t.thread);
    return p->v->fn(p->v->arg, &t, err);
}

/* ---- instructions ---- */

static int look_at(struct pass *p, const struct code_block *b, struct err *err)
{
    struct brief *list = malloc(sizeof *list * (b->accesses + 1u));
    uint16_t n = 0;
    if (!list)
        return err_set(err, "no memory");
    for (uint16_t k = 0; k < b->accesses; k++) {
        const struct plan_access *a = &b->access[k];
        if (access_is_odd(a)) /* a note tells it */
            continue;
        bool simple = a->mem.shape == ACCESS_PLAIN && a->mem.bytes && a->mem.bytes < NOT_SIMPLE &&
                      !code_is_repeated(a);
        list[n++] = (struct brief){.add = a->add,
                                   .slot = a->slot,
                                   .access = k,
                                   .insn = a->insn,
                                   .more = simple ? (uint8_t)(a->mem.bytes - 1) : NOT_SIMPLE};
    }
    p->brief[b->number] = list;
    p->briefs[b->number] = n;
    return 0;
}

static int take_access(struct pass *p, const struct trace_walk *w, const struct code_block *b,
                       uint16_t k, struct err *err)
{
    const struct plan_access *a = &b->access[k];
    uint64_t bytes;
    gaddr addr = access_extent(b, a, w->chunk->value + w->step->value_at, &bytes);
    return tell(
        p,
        (struct touch){.insn = w->insns + a->insn,
                       .at = {.count = p->state[w->thread].count, .pc = b->insn[a->insn].in.pc},
                       .thread = w->thread,
                       .addr = addr,
                       .bytes = bytes,
                       .read = a->mem.read,
                       .write = a->mem.write},
        err);
}

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct trace_step *st = w->step;
    const struct code_block *b = code_block(p->code, st->block);
    const uint64_t *values = w->chunk->value + st->value_at;
    struct trace_state *state = &p->state[st->thread];
    if (!p->brief[st->block] && look_at(p, b, err))
        return -1;
    p->seen[st->thread] = true;
    trace_state_enter(state, p->code, b->pc);
    state->last = b->number + 1;
    if (st->insns)
        p->last[st->thread] = (struct last){.insn = w->insns + st->insns - 1u,
                                            .count = state->count,
                                            .pc = b->insn[st->insns - 1].in.pc};
    const struct brief *x = p->brief[st->block], *end = x + p->briefs[st->block];
    for (; x < end && x->insn < st->insns; x++) {
        gaddr addr = (gaddr)x->add + (x->slot == PLAN_NONE ? 0 : values[x->slot]);
        if (x->more != NOT_SIMPLE && (addr >= p->high || addr + x->more < p->low))
            continue;
        int stop = take_access(p, w, b, x->access, err);
        if (stop)
            return stop;
    }
    return 0;
}

/* ---- what the kernel did ---- */

static int tell_range(struct pass *p, uint32_t thread, const struct flow_range *r, enum touch_by by,
                      int64_t call, struct err *err)
{
    const struct last *last = &p->last[thread];
    return tell(p,
                (struct touch){.insn = last->insn,
                               .at = {.count = last->count, .pc = last->pc},
                               .thread = thread,
                               .addr = r->addr,
                               .bytes = r->bytes,
                               .read = r->how == FLOW_READ,
                               .write = r->how != FLOW_READ,
                               .by = by,
                               .call = call},
                err);
}

static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    size_t n;
    int stop = 0;
    trace_state_take(&p->state[w->thread], &p->seen[w->thread], p->code, w->chunk, w->next_step,
                     w->thread, w->note);
    const struct flow_range *r = trace_ranges(w->note, &n);
    bool call = w->note->kind == FLOW_CALL;
    for (size_t i = 0; i < n && !stop; i++)
        stop = tell_range(p, w->thread, &r[i], call ? TOUCH_CALL : TOUCH_INSN,
                          call ? ((const struct flow_call *)w->note)->nr : 0, err);
    if (w->note->kind == FLOW_SIGNAL) {
        const struct flow_signal *s = (const struct flow_signal *)w->note;
        struct flow_range frame = {.addr = s->frame,
                                   .bytes = s->end > s->frame ? s->end - s->frame : 0,
                                   .how = FLOW_WRITE};
        stop = tell_range(p, w->thread, &frame, TOUCH_SIGNAL, s->signal, err);
    }
    return stop;
}

/* ---- the pass ---- */

static int by_start(const void *a, const void *b)
{
    const struct touch_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int order_ranges(struct pass *p, struct err *err)
{
    const struct touch_visitor *v = p->v;
    p->range = malloc((v->ranges + 1) * sizeof *p->range);
    if (!p->range)
        return err_set(err, "no memory");
    memcpy(p->range, v->range, v->ranges * sizeof *p->range);
    qsort(p->range, v->ranges, sizeof *p->range, by_start);
    for (size_t i = 0; i < v->ranges; i++) {
        struct touch_range r = p->range[i], *last = p->range + p->ranges - 1;
        if (p->ranges && r.start <= last->end)
            last->end = r.end > last->end ? r.end : last->end;
        else
            p->range[p->ranges++] = r;
    }
    p->low = p->ranges ? p->range[0].start : UINT64_MAX;
    p->high = p->ranges ? p->range[p->ranges - 1].end : 0;
    return 0;
}

static int start(struct pass *p, struct err *err)
{
    uint32_t threads = trace_threads(p->trace) + 1, blocks = code_count(p->code) + 1;
    p->brief = calloc(blocks, sizeof *p->brief);
    p->briefs = calloc(blocks, sizeof *p->briefs);
    p->state = calloc(threads, sizeof *p->state);
    p->seen = calloc(threads, sizeof *p->seen);
    p->last = calloc(threads, sizeof *p->last);
    if (!p->brief || !p->briefs || !p->state || !p->seen || !p->last)
        return err_set(err, "no memory");
    return order_ranges(p, err);
}

/* From the chunk before the one with `first` on: it tells which thread runs then. */
static uint32_t first_chunk(const struct pass *p)
{
    uint32_t chunk = 0;
    while (chunk + 1 < trace_chunks(p->trace) &&
           trace_chunk_first(p->trace, chunk + 1) <= p->v->first)
        chunk++;
    return chunk ? chunk - 1 : 0;
}

static void take_states(struct pass *p, const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->threads && i < trace_threads(p->trace); i++) {
        p->state[i] = c->state[i];
        p->seen[i] = c->state[i].last || c->state[i].count;
    }
}

static int walk(struct pass *p, struct err *err)
{
    static const struct trace_visitor visitor = {take_step, take_note};
    struct trace_chunk c = {0};
    uint32_t first = first_chunk(p), thread = 0;
    int stop = 0;
    for (uint32_t i = first; !stop && i < trace_chunks(p->trace); i++) {
        stop = trace_read(p->trace, i, &c, err);
        if (!stop && i == first)
            take_states(p, &c);
        if (!stop)
            stop = trace_walk_chunk(p->trace, &c, &thread, &visitor, p, err);
        if (p->v->progress)
            p->v->progress(p->v->arg, c.first_insn, trace_insns(p->trace));
    }
    trace_chunk_deinit(&c);
    return stop;
}

int touch_pass(struct trace *trace, const struct touch_visitor *v, struct err *err)
{
    struct pass p = {.v = v, .trace = trace, .code = trace_code(trace)};
    int stop = start(&p, err);
    if (!stop)
        stop = walk(&p, err);
    for (uint32_t i = 0; p.brief && i < code_count(p.code); i++)
        free(p.brief[i]);
    free(p.range);
    free(p.brief);
    free(p.briefs);
    free(p.state);
    free(p.seen);
    free(p.last);
    return stop;
}
