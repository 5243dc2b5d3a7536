/* closure_check.c - a slice executed: does it compute what it computed in the run?
 *
 * SPDX-License-Identifier: MIT
 *
 * The original values go along (closure_page.ref, machine_state.ref). Of each location it is known
 * who defined it: nobody yet, the slice, or an instruction outside of it.
 */
#include <stdlib.h>
#include <string.h>

#include "slicer/slice_private.h"
#include "tests/slice/closure_int.h"
#include "trace/sigframe.h"

/* ---- registers that were saved ---- */

static struct stash *find_stash(struct check *c, uint64_t serial, gaddr addr)
{
    size_t i = ((serial + addr) * 0x9e3779b97f4a7c15ull >> 24) & (c->stash_room - 1);
    while (c->stash[i].serial && (c->stash[i].serial != serial || c->stash[i].addr != addr))
        i = (i + 1) & (c->stash_room - 1);
    return &c->stash[i];
}

static void keep_register(struct check *c, const struct forward_at *n)
{
    const struct machine_state *m = &c->thread[n->thread];
    unsigned loc = loc_gpr((unsigned)n->saves);
    if (2 * c->stashes >= c->stash_room) {
        struct stash *old = c->stash;
        size_t room = c->stash_room;
        c->stash_room = room ? room * 2 : 4096;
        c->stash = calloc(c->stash_room, sizeof *c->stash);
        if (!c->stash)
            abort();
        for (size_t i = 0; i < room; i++)
            if (old[i].serial)
                *find_stash(c, old[i].serial, old[i].addr) = old[i];
        free(old);
    }
    struct stash *s = find_stash(c, n->frame->serial, n->pair);
    c->stashes += !s->serial;
    *s = (struct stash){.serial = n->frame->serial, .addr = n->pair, .framed = m->framed};
    memcpy(s->value, m->now.v + loc, 8);
    memcpy(s->state, m->state + loc, 8);
    memcpy(s->by, m->by + loc, sizeof s->by);
}

static bool bring_back(struct check *c, const struct forward_at *n)
{
    struct machine_state *m = &c->thread[n->thread];
    const struct stash *s =
        n->restores >= 0 && c->stash_room ? find_stash(c, n->frame->serial, n->pair) : NULL;
    if (!s || !s->serial)
        return false;
    unsigned loc = loc_gpr((unsigned)n->restores);
    memcpy(m->now.v + loc, s->value, 8);
    memcpy(m->state + loc, s->state, 8);
    memcpy(m->by + loc, s->by, sizeof s->by);
    m->framed = n->restores == RBP ? s->framed : m->framed;
    return true;
}

static void check_wants(struct check *c, uint64_t at)
{
    for (size_t i = 0; i < c->q->wants && !c->failed; i++) {
        const struct slice_want *w = &c->q->want[i];
        if (w->at != at || w->kind == SLICE_USES)
            continue;
        if (w->kind == SLICE_MEMORY)
            closure_need_memory(c, NULL, w->addr, w->bytes);
        for (unsigned k = 0; w->kind == SLICE_REGISTER && k < w->bytes && !c->failed; k++)
            if (w->addr + k < LOC_COUNT && !closure_left_out(c, (unsigned)w->addr + k, true))
                closure_need_loc(c, NULL, w->thread, (unsigned)w->addr + k);
    }
}

/* What the lazy resolver saves and restores of vector registers. */
struct kept {
    uint8_t value[STATE_COUNT], state[STATE_COUNT];
    uint64_t by[STATE_COUNT];
};

static void through_state(struct check *c, const struct forward_at *n)
{
    struct machine_state *m = &c->thread[n->thread];
    struct kept k;
    if (!state_restores(n->in)) {
        memcpy(k.value, m->now.v + STATE_FIRST, sizeof k.value);
        memcpy(k.state, m->state + STATE_FIRST, sizeof k.state);
        memcpy(k.by, m->by + STATE_FIRST, sizeof k.by);
        state_keep(&c->kept, n->frame, &k, sizeof k);
    } else if (state_take(&c->kept, n->frame, &k, sizeof k)) {
        memcpy(m->now.v + STATE_FIRST, k.value, sizeof k.value);
        memcpy(m->state + STATE_FIRST, k.state, sizeof k.state);
        memcpy(m->by + STATE_FIRST, k.by, sizeof k.by);
    }
}

/* Nothing that it defines is ever looked at, or it may be a node for the stack pointer alone, which
 * is not: `and $-32, %rsp` defines flags, too, but nobody may want these. */
static bool is_left_out(const struct check *c, const struct forward_at *n)
{
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write)
            return false;
    bool none = true, stack = false;
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++) {
            unsigned loc = n->du->def[k].first + i;
            bool out = closure_left_out(c, loc, true);
            none = none && out;
            stack = stack || (out && loc - loc_gpr(RSP) < 8);
        }
    return (none || stack) && !n->call && !n->odd;
}

/* Memory that is written and by the policy is not: whoever reads it is given it. */
static void give_writes(struct check *c, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    for (const struct closure_entry *e = closure_entries(c, n->insn); !n->du && e->kind;
         e = closure_next(e))
        for (uint32_t i = 0; e->kind == CLOSURE_MEMORY && i < e->count; i++)
            closure_mark_byte(c, e->addr + i, CLOSURE_UNTOUCHED, 0);
    for (unsigned k = 0; n->du && k < n->du->accesses; k++)
        if (n->b->access[n->b->insn[n->i].access_at + k].mem.write && !n->du->access[k].at.write &&
            forward_extent(n, k, &addr, &bytes))
            for (uint64_t i = 0; i < bytes; i++)
                closure_mark_byte(c, addr + i, CLOSURE_UNTOUCHED, 0);
}

static int do_insn(void *arg, const struct forward_at *n, struct err *err)
{
    struct check *c = arg;
    bool mine = slice_has(c->q->slice, n->insn) && n->insn != c->q->without, frame = false;
    check_wants(c, n->insn);
    closure_make_pages(c, n->insn);
    if (c->failed)
        return 1;
    if (!control_function(c->control, n->frame->entry, &frame, err))
        return -1;
    if (!n->du) {
        if (n->frame->resolver && state_is(n->in))
            through_state(c, n);
        closure_go_on(c, n);
        give_writes(c, n);
        return 0;
    }
    if (n->insn == c->q->without && c->q->idle)
        *c->q->idle = is_left_out(c, n);
    if (n->saves >= 0)
        keep_register(c, n);
    if (mine) {
        bool pair = n->restores >= 0;
        closure_node(c, n, frame, pair);
        if (pair)
            bring_back(c, n);
    } else {
        closure_go_on(c, n);
        if (!bring_back(c, n))
            closure_define(c, n, false, frame);
    }
    give_writes(c, n);
    return c->failed;
}

/* ---- signals and threads ---- */

/* Registers that depend on nothing: as they are in the run. */
static void give_registers(struct check *c, uint32_t thread, unsigned first, unsigned count)
{
    struct machine_state *m = &c->thread[thread];
    for (unsigned i = first; i < first + count; i++) {
        closure_copy_loc(&m->now, &m->ref, i);
        closure_mark_loc(c, thread, i, CLOSURE_OWN, 0);
    }
}

static void store_loc(struct check *c, uint32_t thread, gaddr addr, unsigned loc, unsigned count)
{
    struct machine_state *m = &c->thread[thread];
    for (unsigned i = 0; i < count; i++) {
        bool foreign = m->state[loc + i] == CLOSURE_FOREIGN;
        if (!foreign && m->state[loc + i] == CLOSURE_OWN)
            *(uint8_t *)(addr + i) = m->now.v[loc + i];
        closure_mark_byte(c, addr + i, foreign ? CLOSURE_FOREIGN : CLOSURE_OWN, m->by[loc + i]);
    }
}

static void load_loc(struct check *c, uint32_t thread, gaddr addr, unsigned loc, unsigned count)
{
    struct machine_state *m = &c->thread[thread];
    for (unsigned i = 0; i < count; i++) {
        const struct closure_page *p = closure_page(addr + i);
        if (!p)
            continue;
        unsigned at = (addr + i) % CLOSURE_PAGE;
        bool untouched = p->state[at] == CLOSURE_UNTOUCHED;
        m->now.v[loc + i] = untouched ? p->ref[at] : *(uint8_t *)(addr + i);
        closure_mark_loc(c, thread, loc + i, untouched ? CLOSURE_OWN : p->state[at], p->by[at]);
    }
}

enum { FLAGS = LOC_DF - LOC_CF + 1 };

static int signalled(void *arg, uint32_t thread, const struct flow_signal *s, struct err *err)
{
    (void)err;
    static const uint8_t set[] = {RDI, RSI, RDX, RAX};
    struct check *c = arg;
    struct machine_state *m = &c->thread[thread];
    const struct closure_event *e = &c->r->event[c->events++];
    bool foreign = false;
    for (size_t i = 0; i < e->bytes; i++) {
        *closure_ref(e->frame + i) = *(uint8_t *)(e->frame + i) = e->memory[i];
        closure_mark_byte(c, e->frame + i, CLOSURE_OWN, 0);
    }
    for (size_t i = 0; i < sizeof forward_context; i++)
        store_loc(c, thread, s->frame + FORWARD_CONTEXT + 8 * i, loc_gpr(forward_context[i]), 8);
    struct sigframe f;
    sigframe_init(&f, s->fpstate, s->end);
    for (size_t i = 0; i < f.places; i++)
        store_loc(c, thread, f.place[i].at, f.place[i].loc, f.place[i].bytes);
    for (unsigned i = 0; i < FLAGS; i++)
        foreign |= m->state[LOC_CF + i] == CLOSURE_FOREIGN;
    for (unsigned i = 0; foreign && i < 4; i++)
        closure_mark_byte(c, s->frame + FORWARD_CONTEXT_FLAGS + i, CLOSURE_FOREIGN, 0);
    m->ref = e->after;
    for (size_t i = 0; i < sizeof set; i++)
        give_registers(c, thread, loc_gpr(set[i]), 8);
    give_registers(c, thread, LOC_VEC, LOC_CF - LOC_VEC);
    give_registers(c, thread, LOC_DF, 1);
    give_registers(c, thread, LOC_C0, LOC_MXCSR_STATUS - LOC_C0 + 1);
    return 0;
}

static int returned(void *arg, uint32_t thread, const struct flow_call *call,
                    const struct scan_signal *by, struct err *err)
{
    (void)err;
    struct check *c = arg;
    struct sigframe f;
    const struct closure_event *e = &c->r->event[c->events++];
    bool foreign = false;
    c->thread[thread].ref = e->after;
    give_registers(c, thread, LOC_VEC, LOC_COUNT - LOC_VEC);
    for (size_t i = 0; i < sizeof forward_context; i++)
        load_loc(c, thread, call->frame + FORWARD_CONTEXT + 8 * i, loc_gpr(forward_context[i]), 8);
    sigframe_init(&f, by ? by->fpstate : 0, by ? by->end : 0);
    for (size_t i = 0; i < f.places; i++)
        load_loc(c, thread, f.place[i].at, f.place[i].loc, f.place[i].bytes);
    for (unsigned i = 0; i < 4; i++)
        foreign |= closure_state_of(c, call->frame + FORWARD_CONTEXT_FLAGS + i) == CLOSURE_FOREIGN;
    for (unsigned i = 0; foreign && i < FLAGS; i++)
        closure_mark_loc(c, thread, LOC_CF + i, CLOSURE_FOREIGN, 0);
    return 0;
}

static int begun(void *arg, uint32_t thread, uint32_t child, uint64_t call, struct err *err)
{
    (void)err;
    static const uint8_t made[] = {RAX, RSP, RCX, R11};
    struct check *c = arg;
    struct machine_state *m = &c->thread[child];
    bool mine = slice_has(c->q->slice, call) && call != c->q->without;
    m->now = c->thread[thread].now;
    memcpy(m->state, c->thread[thread].state, sizeof m->state);
    memcpy(m->by, c->thread[thread].by, sizeof m->by);
    for (unsigned i = 0; i < LOC_COUNT; i++) {
        bool is_made = i == LOC_FS_BASE;
        for (size_t k = 0; k < sizeof made; k++)
            is_made |= i - loc_gpr(made[k]) < 8;
        if (!is_made)
            continue;
        closure_copy_loc(&m->now, &m->ref, i);
        closure_mark_loc(c, child, i, mine || call == UINT64_MAX ? CLOSURE_OWN : CLOSURE_FOREIGN,
                         call + 1);
    }
    return 0;
}

/* ---- all of it ---- */

int closure_check(struct trace_index *s, const struct closure_record *r,
                  const struct closure_question *q, struct err *err)
{
    struct check c = {.s = s, .r = r, .q = q};
    const struct forward_visitor v = {
        .arg = &c, .insn = do_insn, .signal = signalled, .sigreturn = returned, .begin = begun};
    c.edges = q->options->edges ? q->options->edges : SLICE_ALL;
    c.control = control_new(s->cfg);
    c.thread = calloc(r->threads + 1, sizeof *c.thread);
    if (!c.control || !c.thread)
        return err_set(err, "no memory");
    for (uint32_t t = 0; t < r->threads; t++) {
        c.thread[t].ref = r->first[t];
        for (unsigned i = 0; i < LOC_COUNT; i++)
            closure_pattern(&c, &c.thread[t].now, i);
    }
    const struct forward_options how = slice_forward_options(q->options);
    int end = forward_pass(s, &how, &v, err);
    if (!end) {
        check_wants(&c, r->nodes);
        end = c.failed;
    }
    control_free(c.control);
    free(c.thread);
    free(c.stash);
    state_free(c.kept);
    free(c.written);
    return end;
}
