/* insn.c - what one instruction does to what is wanted.
 *
 * SPDX-License-Identifier: MIT
 *
 * For all instructions, by the rules of docs/slicing.md; most are spared it by transfer.h.
 */
#include <stdlib.h>
#include <string.h>

#include "slicer/walk/walk.h"

enum { PAGE_SHIFT = 12 };

/* ---- locations ---- */

bool slice_walk_any(const struct walk *w, uint32_t thread, unsigned first, unsigned count)
{
    const uint64_t *bits = w->reg[thread].bits;
    for (unsigned i = first / 64; i <= (first + count - 1) / 64; i++) {
        uint64_t word = bits[i];
        if (!word)
            continue;
        if (i == first / 64)
            word &= ~0ull << (first % 64);
        if (i == (first + count - 1) / 64)
            word &= ~0ull >> (63 - (first + count - 1) % 64);
        if (word)
            return true;
    }
    return false;
}

static uint8_t byte_mask(const struct walk *w, uint32_t thread, unsigned first, unsigned count)
{
    uint8_t mask = 0;
    for (unsigned i = 0; i < count; i++)
        mask |= (uint8_t)(loc_set_has(&w->reg[thread], first + i) << i);
    return mask;
}

/* ---- nodes ---- */

int slice_walk_put(struct walk *w, const struct transfer_block *x, const struct frame *f,
                   const struct trace_step *s, uint64_t taken, struct err *err)
{
    if (!slice_add_bits(w->out, w->chunk.number, s->insn_at, taken, w->chunk.insns))
        return err_set(err, "no memory");
    for (unsigned i = 0; (w->edges & SLICE_CONTROL) && i < x->graphs; i++)
        if (x->graph[i].insns & taken &&
            control_wait(w->control, f, s->thread, x->graph[i].block, err))
            return -1;
    return 0;
}

static gaddr extent(const struct node *n, const struct plan_access *a, uint64_t *bytes)
{
    return access_extent(n->b, a, n->values, bytes);
}

static const struct plan_access *access_of(const struct node *n, unsigned k)
{
    return &n->b->access[n->b->insn[n->i].access_at + k];
}

/* Is something wanted that the kernel, or an odd access, wrote? */
static bool writes_wanted(struct walk *w, const struct flow_note *note)
{
    size_t n;
    const struct flow_range *r = trace_ranges(note, &n);
    for (; n--; r++)
        if (r->how != FLOW_READ && wanted_any(&w->memory, r->addr, r->bytes))
            return true;
    return false;
}

static bool defines_memory(struct walk *w, const struct node *n)
{
    uint64_t bytes;
    if (!w->memory.live)
        return false;
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.write || access_is_odd(a))
            continue;
        gaddr addr = extent(n, a, &bytes);
        if (bytes && wanted_any(&w->memory, addr, bytes))
            return true;
    }
    return (n->odd && writes_wanted(w, &n->odd->note)) ||
           (n->call && writes_wanted(w, &n->call->note));
}

static bool defines_register(const struct walk *w, const struct node *n)
{
    for (unsigned k = 0; k < n->du->defs; k++)
        if (slice_walk_any(w, n->thread, n->du->def[k].first, n->du->def[k].count))
            return true;
    return false;
}

/* ---- what an instruction of the slice does to what is wanted ---- */

/* Locations whose old value may stay in them, as far as they are wanted. */
static bool kept_of(const struct walk *w, const struct node *n, struct loc_set *kept)
{
    bool any = false;
    for (unsigned k = n->du->uses; k-- > 0 && n->du->use[k].kind == DEFUSE_KEPT;) {
        const struct loc_span *u = &n->du->use[k];
        for (unsigned i = 0; i < u->count; i++) {
            if (!loc_set_has(&w->reg[n->thread], u->first + i))
                continue;
            if (!any)
                memset(kept, 0, sizeof *kept);
            any = true;
            loc_set_add(kept, u->first + i, 1);
        }
    }
    return any;
}

bool slice_walk_constant(void *ctx, gaddr addr, uint64_t bytes)
{
    enum { BYTES = 1 << PAGE_SHIFT };
    struct walk *w = ctx;
    if (w->o->relocated)
        return false;
    gaddr number = (addr >> PAGE_SHIFT) + 1, start = addr & ~(gaddr)(BYTES - 1);
    struct page *p = &w->page[number % SLICE_WALK_PAGES];
    if (p->number != number)
        *p = (struct page){number, trace_index_read_only(w->s, start, BYTES)     ? PAGE_CONSTANT
                                   : trace_index_is_writable(w->s, start, BYTES) ? PAGE_CHANGES
                                                                                 : PAGE_MIXED};
    if (p->kind == PAGE_MIXED || addr - start + bytes > BYTES)
        return trace_index_read_only(w->s, addr, bytes);
    return p->kind == PAGE_CONSTANT;
}

/* What it uses is wanted, except what is pruned. */
static void use_locs(struct walk *w, const struct node *n, const struct loc_span *u)
{
    struct prune_user by = prune_user(n->b->insn[n->i].in.pc, n->frame);
    uint64_t at = u->first, end = at + u->count, count;
    for (; prune_next(&w->prune, &by, false, &at, end, &count); at += count)
        want_loc(w, n->thread, (unsigned)at, (unsigned)count);
}

static void use_memory(struct walk *w, const struct node *n, gaddr addr, uint64_t bytes)
{
    struct prune_user by = prune_user(n->b->insn[n->i].in.pc, n->frame);
    uint64_t at = addr, count;
    for (; prune_next(&w->prune, &by, true, &at, addr + bytes, &count); at += count)
        w->ok &= wanted_add(&w->memory, at, count);
}

/* Bytes at `to` are those at `from`, one by one. */
static void use_moved(struct walk *w, const struct node *n, gaddr to, gaddr from, uint64_t bytes)
{
    struct prune_user by = prune_user(n->b->insn[n->i].in.pc, n->frame);
    uint64_t at = from, done = from, count;
    for (; prune_next(&w->prune, &by, true, &at, from + bytes, &count); done = at += count)
        wanted_take(&w->memory, to + (done - from), at - done);
    wanted_take(&w->memory, to + (done - from), from + bytes - done);
    wanted_move(&w->memory, to, bytes, from, &w->ok);
}

/* A repeated copy that may read what it has written: byte by byte. */
static void use_pattern(struct walk *w, const struct node *n, const struct copied *c)
{
    if (!wanted_any(&w->memory, c->to, c->bytes))
        return;
    bool *wanted = calloc(c->bytes, sizeof *wanted);
    w->ok &= wanted != NULL;
    for (uint64_t k = 0; wanted && k < c->bytes; k++)
        if (wanted_any(&w->memory, c->to + k, 1))
            wanted[copied_origin(c, k)] = true;
    wanted_take(&w->memory, c->to, c->bytes);
    for (uint64_t k = 0; wanted && k < c->bytes; k++)
        if (wanted[k])
            use_memory(w, n, c->from + k, 1);
    free(wanted);
}

static void swap_copied(struct walk *w, const struct node *n, const struct copied *c)
{
    uint64_t at = 0, count;
    if (copied_overlaps(c))
        use_pattern(w, n, c);
    else
        use_moved(w, n, c->to, c->from, c->bytes);
    for (; n->criterion && copied_next(c, &at, &count); at += count)
        use_memory(w, n, c->from + at, count);
}

static void swap_registers(struct walk *w, const struct node *n)
{
    struct loc_set kept;
    bool any_kept = kept_of(w, n, &kept);
    for (unsigned k = 0; k < n->du->defs; k++)
        loc_set_remove(&w->reg[n->thread], n->du->def[k].first, n->du->def[k].count);
    for (unsigned k = 0; k < n->du->uses; k++) {
        const struct loc_span *u = &n->du->use[k];
        if (u->kind == DEFUSE_VALUE || (u->kind == DEFUSE_ADDRESS && (w->edges & SLICE_ADDRESS)))
            use_locs(w, n, u);
    }
    if (!any_kept)
        return;
    for (struct loc_span span = loc_set_next(&kept, 0); span.count;
         span = loc_set_next(&kept, span.first + span.count))
        want_loc(w, n->thread, span.first, span.count);
}

static void swap_memory(struct walk *w, const struct node *n)
{
    struct copied copied;
    uint64_t bytes;
    gaddr addr;
    if (access_copies(n->b, n->i, n->values, &copied)) {
        swap_copied(w, n, &copied);
        return;
    }
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.write || n->du->access[k].may || access_is_odd(a))
            continue;
        addr = extent(n, a, &bytes);
        wanted_take(&w->memory, addr, bytes);
    }
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.read || access_is_odd(a) || !n->uses_memory)
            continue;
        addr = extent(n, a, &bytes);
        if (!slice_walk_constant(w, addr, bytes))
            use_memory(w, n, addr, bytes);
    }
    if (n->odd) {
        size_t ranges;
        const struct flow_range *r = trace_ranges(&n->odd->note, &ranges);
        for (; ranges--; r++)
            if (r->how == FLOW_READ)
                use_memory(w, n, r->addr, r->bytes);
    }
}

static void swap_call(struct walk *w, const struct node *n, const struct flow_call *c)
{
    size_t ranges;
    const struct flow_range *r = trace_ranges(&c->note, &ranges);
    for (size_t i = 0; i < ranges; i++) {
        bool moved = i && r[i].how == FLOW_MOVE && r[i - 1].how == FLOW_READ;
        if (moved)
            use_moved(w, n, r[i].addr, r[i - 1].addr, r[i].bytes);
        else if (r[i].how != FLOW_READ)
            wanted_take(&w->memory, r[i].addr, r[i].bytes);
    }
    for (size_t i = 0; i < ranges; i++) {
        bool moves = i + 1 < ranges && r[i + 1].how == FLOW_MOVE;
        if (r[i].how == FLOW_READ && (!moves || n->criterion))
            use_memory(w, n, r[i].addr, r[i].bytes);
    }
}

static int take_node(struct walk *w, const struct node *n, struct err *err)
{
    if (slice_walk_put(w, n->x, n->frame, n->step, 1ull << n->i, err))
        return -1;
    swap_registers(w, n);
    swap_memory(w, n);
    if (n->call)
        swap_call(w, n, n->call);
    return w->ok ? 0 : err_set(err, "no memory");
}

/* ---- saved registers ---- */

static struct ghost *find_ghost(const struct walk *w, uint64_t serial, gaddr addr)
{
    return table_find_pair(&w->ghost, serial, addr);
}

bool slice_walk_saved(const struct walk *w, const struct frame *frame, gaddr addr)
{
    return w->ghosts_waiting && find_ghost(w, frame->serial, addr)->mask;
}

static bool is_found(const void *ghost)
{
    return !((const struct ghost *)ghost)->mask;
}

/* The restore of a pair: what is wanted of the register is wanted before the save. */
static void look_through(struct walk *w, const struct node *n, int reg, gaddr addr)
{
    uint8_t mask = byte_mask(w, n->thread, loc_gpr((unsigned)reg), 8);
    if (!mask)
        return;
    loc_set_remove(&w->reg[n->thread], loc_gpr((unsigned)reg), 8);
    if (table_reserve_words(&w->ghost, 2, is_found, NULL)) {
        w->ok = false;
        return;
    }
    struct ghost *g = find_ghost(w, n->frame->serial, addr);
    w->ghost.used += !g->serial;
    uint8_t both = g->serial ? g->mask : 0;
    w->ghosts_waiting += !both;
    *g = (struct ghost){n->frame->serial, addr, (uint8_t)reg, (uint8_t)(both | mask)};
    w->out->figures.pairs++;
}

/* What is wanted behind the resolver's restore is wanted before its save. */
static void through_state(struct walk *w, const struct node *n, bool restores)
{
    struct loc_set set = {0};
    struct loc_span span;
    if (!restores && !state_take(&w->state, n->frame, &set, sizeof set))
        return;
    const struct loc_set *from = restores ? &w->reg[n->thread] : &set;
    for (span = loc_set_next(from, STATE_FIRST); span.count && span.first < LOC_X87;
         span = loc_set_next(from, span.first + span.count)) {
        unsigned left = LOC_X87 - span.first, count = span.count < left ? span.count : left;
        if (restores)
            loc_set_add(&set, span.first, count);
        else
            want_loc(w, n->thread, span.first, count);
    }
    if (!restores)
        return;
    loc_set_remove(&w->reg[n->thread], STATE_FIRST, STATE_COUNT);
    w->ok &= state_keep(&w->state, n->frame, &set, sizeof set);
}

static bool is_restore(struct walk *w, uint32_t insn)
{
    struct scan_lists *l = &w->lists;
    while (l->restores && l->restore[l->restores - 1] > insn)
        l->restores--;
    return l->restores && l->restore[l->restores - 1] == insn;
}

static bool is_changed(struct walk *w, uint32_t insn)
{
    struct scan_lists *l = &w->lists;
    while (l->changes && l->changed[l->changes - 1] > insn)
        l->changes--;
    return l->changes && l->changed[l->changes - 1] == insn;
}

/* ---- one instruction ---- */

static bool returns_intact(struct walk *w, const struct node *n)
{
    return frames_returns(n->frame, n->b, n->i, n->values) && !is_changed(w, n->insn);
}

int slice_walk_insn(struct walk *w, struct node *n, bool by_control, struct err *err)
{
    const struct code_insn *ci = &n->b->insn[n->i];
    if (n->call && access_is_sigreturn(n->call))
        return 0; /* its note has done all */
    if (n->frame->resolver && state_is(&ci->in)) {
        through_state(w, n, state_restores(&ci->in));
        return 0;
    }
    n->du = code_defuse(w->s->code, n->b, n->i, n->flags, n->values);
    if (!n->du)
        return err_set(err, "no memory");
    if (n->call)
        n->du = access_call_defuse(w->s->call, n->du, n->call);
    if (!w->o->keep_saves) {
        int reg;
        if (is_restore(w, n->insn) && (reg = ci->restores) >= 0 && defines_register(w, n))
            look_through(w, n, reg, code_address(&n->b->access[ci->access_at], n->values));
        if (w->ghosts_waiting && (reg = ci->saves) >= 0) {
            struct ghost *g = find_ghost(w, n->frame->serial,
                                         code_address(&n->b->access[ci->access_at], n->values));
            if (g->serial && g->mask && g->reg == reg) {
                /* as wanted before the save: first what the instruction itself does */
                uint8_t mask = g->mask;
                g->mask = 0;
                w->ghosts_waiting--;
                n->uses_memory = true;
                if ((by_control || defines_register(w, n) || defines_memory(w, n)) &&
                    take_node(w, n, err))
                    return -1;
                for (unsigned i = 0; i < 8; i++)
                    if (mask >> i & 1)
                        want_loc(w, n->thread, loc_gpr((unsigned)reg) + i, 1);
                return 0;
            }
        }
    }
    n->uses_memory = ci->in.kind != INSN_RET || !returns_intact(w, n);
    if (by_control || defines_register(w, n) || defines_memory(w, n))
        return take_node(w, n, err);
    return 0;
}
