/* forward.c - all that depends on something.
 *
 * SPDX-License-Identifier: MIT
 *
 * A pass forwards that carries a mark along with values: a location is marked if its value depends
 * on the criterion, an instruction is in the slice if it uses one, or a branch of the slice, or the
 * maker of its frame, controls it. An instruction is in the forward slice of another one exactly if
 * that is in the backward slice of what the first one uses (slice.forward tests it).
 *
 * A copy that is made byte by byte is in the slice if it copies a marked byte; only such bytes are
 * then marked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "slicer/slice_private.h"
#include "slicer/walk/prune.h"
#include "trace/classes.h"
#include "trace/graph/regions.h"
#include "trace/sigframe.h"

struct saved {
    uint64_t serial;
    gaddr addr;
    uint8_t mask;
};

enum { COPIED_MOST = 1 << 30 }; /* bytes that are copied one by one */

struct taint {
    struct trace_index *s;
    struct slice *out;
    const struct slice_options *o;
    unsigned edges;
    struct control *control; /* for functions only */
    struct wanted memory;    /* marked bytes */
    struct loc_set *reg;     /* marked locations, by thread */
    bool *root;              /* by thread: the call that made it is in the slice */
    uint32_t threads;
    struct regions *regions;
    struct prune prune;
    TABLE(struct saved) saved;
    struct state *state; /* as a resolver saved it */
    const struct slice_want *want;
    size_t wants;
    uint64_t begin, end; /* the first and the last of them */
    uint32_t chunk;
    bool ok;
};

/* ---- control ---- */

static bool controlled(struct taint *t, const struct forward_at *n)
{
    uint64_t branch = regions_branch(t->regions, n->frame, n->in->pc);
    if (branch != REGIONS_NONE)
        return slice_has(t->out, branch);
    if (n->frame->maker != FRAME_NO_MAKER)
        return slice_has(t->out, n->frame->maker);
    return n->frame->kind == FRAME_ROOT && t->root[n->thread];
}

static int went(void *arg, const struct forward_went *w, struct err *err)
{
    struct taint *t = arg;
    return t->edges & SLICE_CONTROL
               ? regions_went(t->regions, w->frame, w->insn, w->pc, w->next, err)
               : 0;
}

/* ---- marks ---- */

static bool any_loc(const struct loc_set *set, unsigned first, unsigned count)
{
    struct loc_span span = loc_set_next(set, first);
    return span.count && span.first < first + count;
}

/* Is any of it marked, as far as the instruction uses it? */
static bool uses_bytes(struct taint *t, const struct forward_at *n, gaddr addr, uint64_t bytes)
{
    struct prune_user by = prune_user(n->in->pc, n->frame);
    uint64_t at = addr, count;
    for (; prune_next(&t->prune, &by, true, &at, addr + bytes, &count); at += count)
        if (wanted_any(&t->memory, at, count))
            return true;
    return false;
}

static bool uses_range(struct taint *t, const struct forward_at *n, const struct flow_range *r)
{
    return r->how == FLOW_READ && uses_bytes(t, n, r->addr, r->bytes);
}

/* What is moved on is looked at byte by byte: moves_marked(). */
static bool uses_ranges(struct taint *t, const struct forward_at *n, const struct flow_note *note)
{
    size_t ranges;
    const struct flow_range *r = trace_ranges(note, &ranges);
    for (size_t i = 0; i < ranges; i++)
        if (!(i + 1 < ranges && r[i + 1].how == FLOW_MOVE) && uses_range(t, n, &r[i]))
            return true;
    return false;
}

static bool uses_memory(struct taint *t, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    struct copied c;
    if (!t->memory.live || forward_copies(n, &c))
        return false;
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.read && !n->intact && forward_extent(n, k, &addr, &bytes) &&
            (t->o->relocated || !trace_index_read_only(t->s, addr, bytes)) &&
            uses_bytes(t, n, addr, bytes))
            return true;
    return (n->odd && uses_ranges(t, n, &n->odd->note)) ||
           (n->call && uses_ranges(t, n, &n->call->note));
}

/* Bytes that the copy has written itself are no use. */
static bool uses_copied(struct taint *t, const struct forward_at *n, const struct copied *c)
{
    uint64_t at = 0, count;
    for (; copied_next(c, &at, &count); at += count)
        if (uses_bytes(t, n, c->from + at, count))
            return true;
    return false;
}

/* Does it copy a marked byte, one by one? */
static bool moves_marked(struct taint *t, const struct forward_at *n)
{
    struct copied c;
    if (!t->memory.live)
        return false;
    if (forward_copies(n, &c))
        return uses_copied(t, n, &c);
    size_t ranges;
    const struct flow_range *r = n->call ? trace_ranges(&n->call->note, &ranges) : NULL;
    for (size_t i = 0; r && i + 1 < ranges; i++)
        if (r[i + 1].how == FLOW_MOVE && uses_range(t, n, &r[i]))
            return true;
    return false;
}

static bool uses_register(const struct taint *t, const struct forward_at *n)
{
    struct prune_user by = prune_user(n->in->pc, n->frame);
    for (unsigned k = 0; k < n->du->uses; k++) {
        const struct loc_span *u = &n->du->use[k];
        uint64_t at = u->first, end = at + u->count, count;
        if (u->kind != DEFUSE_VALUE && (u->kind != DEFUSE_ADDRESS || !(t->edges & SLICE_ADDRESS)))
            continue;
        for (; prune_next(&t->prune, &by, false, &at, end, &count); at += count)
            if (any_loc(&t->reg[n->thread], (unsigned)at, (unsigned)count))
                return true;
    }
    return false;
}

/* Marked or not, as `mark` says; what may stay as it was is not unmarked. */
static void set_memory(struct taint *t, gaddr addr, uint64_t bytes, bool mark, bool may)
{
    if (mark)
        t->ok &= wanted_add(&t->memory, addr, bytes);
    else if (!may)
        wanted_take(&t->memory, addr, bytes);
}

static void copy_memory(struct taint *t, const struct forward_at *n, const struct copied *c,
                        bool mark)
{
    bool any = !mark && t->memory.live && uses_copied(t, n, c);
    uint8_t *was = any && c->bytes <= COPIED_MOST ? malloc(c->bytes + 1) : NULL;
    t->ok &= !any || was;
    for (uint64_t i = 0; was && i < c->bytes; i++)
        was[i] = uses_bytes(t, n, c->from + i, 1);
    set_memory(t, c->to, c->bytes, mark, false);
    for (uint64_t i = 0; was && i < c->bytes; i++)
        if (was[copied_origin(c, i)])
            t->ok &= wanted_add(&t->memory, c->to + i, 1);
    free(was);
}

static void define_ranges(struct taint *t, const struct forward_at *n, const struct flow_note *note,
                          bool mark)
{
    size_t ranges;
    const struct flow_range *first = trace_ranges(note, &ranges);
    for (const struct flow_range *r = first; r < first + ranges; r++)
        if (r->how == FLOW_MOVE && r > first) {
            struct copied c = {r->addr, r[-1].addr, r->bytes, r->bytes, false};
            copy_memory(t, n, &c, mark);
        } else if (r->how == FLOW_WRITE) {
            set_memory(t, r->addr, r->bytes, mark, note->kind == FLOW_ACCESS);
        }
}

static void define_registers(struct taint *t, const struct forward_at *n, bool mark)
{
    struct loc_set *reg = &t->reg[n->thread], kept = {{0}};
    for (unsigned k = 0; !mark && k < n->du->uses; k++)
        for (unsigned i = 0; n->du->use[k].kind == DEFUSE_KEPT && i < n->du->use[k].count; i++)
            if (loc_set_has(reg, n->du->use[k].first + i))
                loc_set_add(&kept, n->du->use[k].first + i, 1);
    for (unsigned k = 0; k < n->du->defs; k++)
        if (mark)
            loc_set_add(reg, n->du->def[k].first, n->du->def[k].count);
        else
            loc_set_remove(reg, n->du->def[k].first, n->du->def[k].count);
    for (unsigned i = 0; i < sizeof kept.bits / sizeof *kept.bits; i++)
        reg->bits[i] |= kept.bits[i];
}

static void define(struct taint *t, const struct forward_at *n, bool mark)
{
    gaddr addr;
    uint64_t bytes;
    struct copied c;
    define_registers(t, n, mark);
    if (forward_copies(n, &c)) {
        copy_memory(t, n, &c, mark);
        return;
    }
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write && forward_extent(n, k, &addr, &bytes))
            set_memory(t, addr, bytes, mark, n->du->access[k].may);
    if (n->call)
        define_ranges(t, n, &n->call->note, mark);
    if (n->odd)
        define_ranges(t, n, &n->odd->note, mark);
}

/* ---- saved registers ---- */

static uint8_t marks_of(const struct taint *t, uint32_t thread, int reg)
{
    uint8_t mask = 0;
    for (unsigned i = 0; i < 8; i++)
        mask |= (uint8_t)(loc_set_has(&t->reg[thread], loc_gpr((unsigned)reg) + i) << i);
    return mask;
}

/* Only saves of marked registers are kept, and those that put an end to one. */
static void keep_save(struct taint *t, const struct forward_at *n)
{
    uint8_t mask = marks_of(t, n->thread, n->saves);
    struct saved *s = table_find_pair(&t->saved, n->frame->serial, n->pair);
    if (!mask && !s->serial)
        return;
    if (table_reserve_pair(&t->saved)) {
        t->ok = false;
        return;
    }
    s = table_find_pair(&t->saved, n->frame->serial, n->pair);
    t->saved.used += !s->serial;
    *s = (struct saved){n->frame->serial, n->pair, mask};
}

static void restore(struct taint *t, const struct forward_at *n)
{
    const struct saved *s = table_find_pair(&t->saved, n->frame->serial, n->pair);
    unsigned loc = loc_gpr((unsigned)n->restores);
    loc_set_remove(&t->reg[n->thread], loc, 8);
    for (unsigned i = 0; s->serial && i < 8; i++)
        if (s->mask >> i & 1)
            loc_set_add(&t->reg[n->thread], loc + i, 1);
}

/* ---- the pass ---- */

/* What is wanted before this instruction is marked; true: it is itself the criterion. */
static bool criterion(struct taint *t, uint64_t insn)
{
    bool itself = false;
    for (size_t i = 0; i < t->wants; i++) {
        const struct slice_want *x = &t->want[i];
        if (x->at != insn)
            continue;
        if (x->kind == SLICE_USES)
            itself = true;
        else if (x->kind == SLICE_MEMORY)
            t->ok &= wanted_add(&t->memory, x->addr, x->bytes);
        else if (x->thread < t->threads && x->addr < LOC_COUNT && x->bytes <= LOC_COUNT - x->addr)
            loc_set_add(&t->reg[x->thread], (unsigned)x->addr, (unsigned)x->bytes);
    }
    return itself;
}

static void through_state(struct taint *t, const struct forward_at *n)
{
    struct loc_set set, *reg = &t->reg[n->thread];
    if (!state_restores(n->in)) {
        t->ok &= state_keep(&t->state, n->frame, reg, sizeof *reg);
    } else if (state_take(&t->state, n->frame, &set, sizeof set)) {
        loc_set_remove(reg, STATE_FIRST, STATE_COUNT);
        for (unsigned i = STATE_FIRST; i < STATE_FIRST + STATE_COUNT; i++)
            if (loc_set_has(&set, i))
                loc_set_add(reg, i, 1);
    }
}

static bool anything_marked(const struct taint *t)
{
    for (uint32_t i = 0; i < t->threads; i++)
        if (loc_set_next(&t->reg[i], 0).count)
            return true;
    return t->memory.live || t->saved.used || t->state || t->out->count;
}

/* Before the criterion nothing depends on it; branches and calls made there are not in the slice.
 * Nor is anything if all marks have gone. */
static bool quiet(void *arg, uint64_t first, uint64_t insns)
{
    const struct taint *t = arg;
    return first + insns <= t->begin || (first > t->end && !anything_marked(t));
}

static int do_insn(void *arg, const struct forward_at *n, struct err *err)
{
    struct taint *t = arg;
    bool itself = criterion(t, n->insn);
    if (n->frame->resolver && state_is(n->in))
        through_state(t, n);
    if (!n->du)
        return t->ok ? 0 : err_set(err, "no memory");
    if (n->saves >= 0)
        keep_save(t, n);
    bool in = itself || uses_register(t, n) || uses_memory(t, n) ||
              ((t->edges & SLICE_CONTROL) && controlled(t, n));
    if (in || moves_marked(t, n)) {
        while (t->out->first[t->chunk + 1] <= n->insn)
            t->chunk++;
        uint64_t first = t->out->first[t->chunk];
        if (slice_add(t->out, t->chunk, (uint32_t)(n->insn - first),
                      (uint32_t)(t->out->first[t->chunk + 1] - first)) < 0)
            t->ok = false;
    }
    if (n->restores >= 0)
        restore(t, n);
    else
        define(t, n, in);
    return t->ok ? 0 : err_set(err, "no memory");
}

static int signalled(void *arg, uint32_t thread, const struct flow_signal *s, struct err *err)
{
    struct taint *t = arg;
    static const uint8_t fresh[] = {RDI, RSI, RDX, RAX};
    struct loc_set *reg = &t->reg[thread];
    wanted_take(&t->memory, s->frame, s->end - s->frame);
    for (size_t i = 0; i < sizeof forward_context; i++)
        for (unsigned k = 0; k < 8; k++)
            if (loc_set_has(reg, loc_gpr(forward_context[i]) + k))
                t->ok &= wanted_add(&t->memory, s->frame + FORWARD_CONTEXT + 8 * i + k, 1);
    if (any_loc(reg, LOC_CF, LOC_DF - LOC_CF + 1))
        t->ok &= wanted_add(&t->memory, s->frame + FORWARD_CONTEXT_FLAGS, 4);
    struct sigframe f;
    sigframe_init(&f, s->fpstate, s->end);
    for (size_t i = 0; i < f.places; i++)
        for (unsigned k = 0; k < f.place[i].bytes; k++)
            if (loc_set_has(reg, f.place[i].loc + k))
                t->ok &= wanted_add(&t->memory, f.place[i].at + k, 1);
    for (size_t i = 0; i < sizeof fresh; i++)
        loc_set_remove(reg, loc_gpr(fresh[i]), 8);
    loc_set_remove(reg, LOC_DF, 1);
    loc_set_remove(reg, LOC_VEC, LOC_CF - LOC_VEC);
    loc_set_remove(reg, LOC_C0, LOC_MXCSR_STATUS - LOC_C0 + 1);
    return t->ok ? 0 : err_set(err, "no memory");
}

static int returned(void *arg, uint32_t thread, const struct flow_call *c,
                    const struct scan_signal *by, struct err *err)
{
    struct taint *t = arg;
    (void)err;
    struct sigframe f;
    struct loc_set *reg = &t->reg[thread];
    memset(reg, 0, sizeof *reg);
    for (size_t i = 0; i < sizeof forward_context; i++)
        for (unsigned k = 0; k < 8; k++)
            if (wanted_any(&t->memory, c->frame + FORWARD_CONTEXT + 8 * i + k, 1))
                loc_set_add(reg, loc_gpr(forward_context[i]) + k, 1);
    if (wanted_any(&t->memory, c->frame + FORWARD_CONTEXT_FLAGS, 4))
        loc_set_add(reg, LOC_CF, LOC_DF - LOC_CF + 1);
    sigframe_init(&f, by ? by->fpstate : 0, by ? by->end : 0);
    for (size_t i = 0; i < f.places; i++)
        for (unsigned k = 0; k < f.place[i].bytes; k++)
            if (wanted_any(&t->memory, f.place[i].at + k, 1))
                loc_set_add(reg, f.place[i].loc + k, 1);
    return 0;
}

static int begun(void *arg, uint32_t thread, uint32_t child, uint64_t call, struct err *err)
{
    struct taint *t = arg;
    (void)err;
    static const uint8_t made[] = {RAX, RSP, RCX, R11};
    bool in = call != UINT64_MAX && slice_has(t->out, call);
    t->reg[child] = t->reg[thread];
    for (size_t i = 0; i < sizeof made; i++)
        if (in)
            loc_set_add(&t->reg[child], loc_gpr(made[i]), 8);
        else
            loc_set_remove(&t->reg[child], loc_gpr(made[i]), 8);
    if (in)
        loc_set_add(&t->reg[child], LOC_FS_BASE, 1);
    else
        loc_set_remove(&t->reg[child], LOC_FS_BASE, 1);
    t->root[child] = in;
    return 0;
}

/* What was left out: nothing is known of where its values came from. */
static int did(void *arg, uint32_t thread, uint64_t insn, const struct flow_did *d, struct err *err)
{
    struct taint *t = arg;
    (void)insn, (void)err;
    struct loc_set set;
    classes_locations(d->wrote, &set);
    for (size_t i = 0; i < sizeof set.bits / sizeof *set.bits; i++)
        t->reg[thread].bits[i] &= ~set.bits[i];
    if (d->how & FLOW_BEGAN)
        t->root[thread] = false;
    return 0;
}

static void taint_deinit(struct taint *t)
{
    regions_free(t->regions);
    prune_deinit(&t->prune);
    free(t->saved.slot);
    state_free(t->state);
    free(t->reg);
    free(t->root);
    control_free(t->control);
    wanted_deinit(&t->memory);
}

struct slice *slice_forward(struct trace_index *s, const struct slice_want *want, size_t wants,
                            const struct slice_options *o, struct err *err)
{
    struct taint t = {.s = s,
                      .o = o,
                      .edges = o->edges ? o->edges : SLICE_ALL,
                      .threads = trace_threads(s->trace),
                      .want = want,
                      .wants = wants,
                      .begin = UINT64_MAX,
                      .ok = true};
    struct forward_visitor v = {.arg = &t,
                                .quiet = quiet,
                                .insn = do_insn,
                                .went = went,
                                .signal = signalled,
                                .sigreturn = returned,
                                .begin = begun,
                                .did = did};
    const struct forward_options how = slice_forward_options(o);
    t.out = slice_new(s->trace);
    t.control = control_new(s->cfg);
    t.regions = t.control ? regions_new(t.control) : NULL;
    t.reg = calloc(t.threads + 1, sizeof *t.reg);
    t.root = calloc(t.threads + 1, sizeof *t.root);
    int bad = -1;
    for (size_t i = 0; i < wants; i++) {
        t.begin = want[i].at < t.begin ? want[i].at : t.begin;
        t.end = want[i].at > t.end ? want[i].at : t.end;
    }
    v.first = wants ? t.begin : 0;
    if (!t.out || !t.control || !t.regions || table_reserve_pair(&t.saved) || !t.reg || !t.root)
        err_set(err, "no memory");
    else if (!prune_init(&t.prune, o, err))
        bad = forward_pass(s, &how, &v, err);
    taint_deinit(&t);
    if (bad) {
        slice_free(t.out);
        return NULL;
    }
    return t.out;
}
