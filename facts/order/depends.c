/* depends.c - was a value made from another one? SPDX-License-Identifier: MIT
 *
 * Goes forwards from the one instruction to the other and keeps the registers and the memory that
 * hold something made from what was read.
 */
#include "facts/order/depends.h"

#include <stdlib.h>
#include <string.h>

#include "trace/access.h"
#include "trace/walk.h"

enum { FAR = 1 << 20, PLACES = 256 };

struct search {
    struct trace *trace;
    uint64_t from, to;
    uint32_t thread;
    bool begun, answer;
    bool reg[LOC_COUNT];
    struct {
        gaddr start, end;
    } place[PLACES];
    unsigned places;
};

/* An instruction that was executed. */
struct node {
    const struct code_block *b;
    unsigned i;
    const uint64_t *values;
    const struct defuse *du;
};

static bool has_memory(const struct search *q, gaddr start, gaddr end)
{
    for (unsigned i = 0; i < q->places; i++)
        if (q->place[i].start < end && start < q->place[i].end)
            return true;
    return false;
}

/* Places that are only written in part are forgotten in whole: the answer is then rather no. */
static void set_memory(struct search *q, gaddr start, gaddr end, bool made)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < q->places; i++)
        if (q->place[i].end <= start || end <= q->place[i].start)
            q->place[kept++] = q->place[i];
    q->places = kept;
    if (made && q->places < PLACES) {
        q->place[q->places].start = start;
        q->place[q->places++].end = end;
    }
}

static bool uses(const struct search *q, const struct node *n)
{
    for (unsigned k = 0; k < n->du->uses; k++) {
        const struct loc_span *u = &n->du->use[k];
        for (unsigned i = 0; u->kind == DEFUSE_VALUE && i < u->count; i++)
            if (q->reg[u->first + i])
                return true;
    }
    const struct code_insn *ci = &n->b->insn[n->i];
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &n->b->access[ci->access_at + k];
        uint64_t bytes;
        if (!a->mem.read || access_is_odd(a))
            continue;
        gaddr addr = access_extent(n->b, a, n->values, &bytes);
        if (has_memory(q, addr, addr + bytes))
            return true;
    }
    return false;
}

static bool is_kept(const struct defuse *du, unsigned loc)
{
    for (unsigned k = 0; k < du->uses; k++)
        if (du->use[k].kind == DEFUSE_KEPT && loc - du->use[k].first < du->use[k].count)
            return true;
    return false;
}

static void define(struct search *q, const struct node *n, bool made)
{
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++) {
            unsigned loc = n->du->def[k].first + i;
            q->reg[loc] = made || (q->reg[loc] && is_kept(n->du, loc));
        }
    const struct code_insn *ci = &n->b->insn[n->i];
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &n->b->access[ci->access_at + k];
        uint64_t bytes;
        if (!a->mem.write || access_is_odd(a))
            continue;
        gaddr addr = access_extent(n->b, a, n->values, &bytes);
        set_memory(q, addr, addr + bytes, made);
    }
}

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct search *q = arg;
    const struct trace_step *st = w->step;
    if (w->insns > q->to)
        return 1;
    if (w->insns + st->insns <= q->from || (q->begun && st->thread != q->thread))
        return 0;
    struct node n = {.b = code_block(trace_code(q->trace), st->block),
                     .values = w->chunk->value + st->value_at};
    for (n.i = 0; n.i < st->insns; n.i++) {
        const uint64_t insn = w->insns + n.i;
        if (insn < q->from)
            continue;
        n.du = code_defuse(trace_code(q->trace), n.b, n.i, 0, n.values);
        if (!n.du)
            return err_set(err, "no memory");
        bool made = insn == q->from || uses(q, &n);
        q->thread = st->thread;
        q->begun = true;
        if (insn == q->to) {
            q->answer = made;
            return 1;
        }
        define(q, &n, made);
    }
    return 0;
}

static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    (void)arg, (void)w, (void)err;
    return 0;
}

int depends_by_value(struct study *s, uint64_t from, uint64_t to, bool *out, struct err *err)
{
    static const struct trace_visitor visitor = {take_step, take_note};
    struct search *q = calloc(1, sizeof *q);
    uint32_t chunk = 0;
    *out = false;
    if (!q)
        return err_set(err, "no memory");
    q->trace = s->trace;
    q->from = from;
    q->to = to;
    while (chunk + 1 < trace_chunks(s->trace) && trace_chunk_first(s->trace, chunk + 1) <= from)
        chunk++;
    int end = to > from && to - from < FAR ? trace_walk_all(s->trace, chunk, &visitor, q, err) : 0;
    *out = q->answer;
    free(q);
    return end < 0 ? -1 : 0;
}
