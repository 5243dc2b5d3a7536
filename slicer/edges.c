/* edges.c - why each node of a slice is in it.
 *
 * SPDX-License-Identifier: MIT
 *
 * One pass forwards. The shadow of a location is the node of the slice that defined it last; nodes
 * that are not in the slice define nothing that is asked for, so they leave no trace, except that
 * restores bring a register's shadow back from its save, and signals and new threads carry shadows
 * along. Control: for each frame the branches of the slice that were executed in it are kept, by
 * graph block, newest first.
 */
#include "slicer/edges.h"

#include <stdlib.h>
#include <string.h>

#include "slicer/slice_private.h"

#define NOBODY 0 /* a shadow is a node's number plus one */

/* ---- shadows of memory: pages of 512 bytes ---- */

enum { PAGE_SHIFT = 9, PAGE = 1 << PAGE_SHIFT };

struct page {
    gaddr number; /* address >> PAGE_SHIFT, plus one */
    uint64_t *by; /* for each byte */
};

struct saved {
    uint64_t serial;
    gaddr addr;
    uint64_t by[8];
};

struct branch {
    uint64_t serial; /* of the frame; 0: free */
    uint64_t insn;
    gaddr pc, next;
    uint32_t before; /* index + 1 of the one before it in the same frame */
};

struct pass {
    struct slicer *s;
    const struct slice *slice;
    const struct slice_options *o;
    unsigned edges;
    slice_edge_fn *edge;
    slice_node_fn *node;
    void *arg;
    struct control *control; /* for functions only */
    struct page *page;
    size_t page_room, pages;
    uint64_t (*reg)[LOC_COUNT]; /* by thread */
    uint32_t threads;
    struct saved *saved;
    size_t saved_room, saves;
    struct branch *branch;
    uint32_t branches, branch_room;
    struct head {
        uint64_t serial;
        uint32_t last; /* index + 1 */
    } * head;
    size_t head_room, heads;
    struct frames frames;
    struct trace_state *state;
    struct pending {
        bool set;
        uint64_t serial, insn;
        gaddr pc;
    } * pending; /* by thread: a branch of the slice whose way is not known yet */
    struct who {
        gaddr pc, cfa;
        uint32_t thread;
    } * who; /* of slice nodes, in order of their numbers */
    uint64_t *who_insn;
    uint64_t whos, who_room;
    const struct slice_want *want;
    size_t wants;
    uint64_t *begun; /* by thread: the making call's node plus one */
    int result;
};

static struct page *find_page(const struct pass *p, gaddr number)
{
    size_t i = (number * 0x9e3779b97f4a7c15ull >> 24) & (p->page_room - 1);
    while (p->page[i].number && p->page[i].number != number + 1)
        i = (i + 1) & (p->page_room - 1);
    return &p->page[i];
}

static uint64_t *shadow(struct pass *p, gaddr addr, bool make)
{
    struct page *g = find_page(p, addr >> PAGE_SHIFT);
    if (g->number)
        return &g->by[addr & (PAGE - 1)];
    if (!make)
        return NULL;
    if (2 * p->pages >= p->page_room) {
        struct page *old = p->page;
        size_t room = p->page_room;
        struct page *list = calloc(room * 2, sizeof *list);
        if (!list)
            return NULL;
        p->page = list;
        p->page_room = room * 2;
        for (size_t i = 0; i < room; i++)
            if (old[i].number)
                *find_page(p, old[i].number - 1) = old[i];
        free(old);
        g = find_page(p, addr >> PAGE_SHIFT);
    }
    g->by = calloc(PAGE, sizeof *g->by);
    if (!g->by)
        return NULL;
    g->number = (addr >> PAGE_SHIFT) + 1;
    p->pages++;
    return &g->by[addr & (PAGE - 1)];
}

static void define_memory(struct pass *p, gaddr addr, uint64_t bytes, uint64_t by)
{
    for (uint64_t i = 0; i < bytes;) {
        uint64_t *s = shadow(p, addr + i, by != NOBODY);
        uint64_t n = PAGE - ((addr + i) & (PAGE - 1));
        n = n < bytes - i ? n : bytes - i;
        for (uint64_t k = 0; s && k < n; k++)
            s[k] = by;
        i += n;
    }
}

/* ---- telling ---- */

static const struct who *find_who(const struct pass *p, uint64_t insn)
{
    uint64_t lo = 0, hi = p->whos;
    while (lo < hi) {
        uint64_t mid = (lo + hi) / 2;
        if (p->who_insn[mid] < insn)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->whos && p->who_insn[lo] == insn ? &p->who[lo] : NULL;
}

static void tell(struct pass *p, uint64_t node, uint64_t by, unsigned kind, bool memory,
                 uint64_t addr, uint64_t bytes)
{
    const struct who *a = node == UINT64_MAX ? NULL : find_who(p, node);
    const struct who *b = find_who(p, by - 1);
    if (p->result || !b || by - 1 == node)
        return;
    struct slice_dependence d = {.node = node,
                                 .on = by - 1,
                                 .kind = kind,
                                 .memory = memory,
                                 .addr = addr,
                                 .bytes = bytes,
                                 .on_thread = b->thread,
                                 .on_pc = b->pc,
                                 .on_cfa = b->cfa};
    if (a) {
        d.node_thread = a->thread;
        d.node_pc = a->pc;
        d.node_cfa = a->cfa;
    }
    p->result = p->edge(p->arg, &d);
}

/* Neighbours with the same shadow are one edge. */
static void tell_run(struct pass *p, uint64_t node, unsigned kind, bool memory, uint64_t first,
                     const uint64_t *by, uint64_t count)
{
    for (uint64_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && by[k] == by[i]; k++)
            ;
        if (by[i] != NOBODY)
            tell(p, node, by[i], kind, memory, first + i, k - i);
    }
}

static void tell_memory(struct pass *p, uint64_t node, gaddr addr, uint64_t bytes)
{
    while (bytes) {
        uint64_t n = PAGE - (addr & (PAGE - 1));
        n = n < bytes ? n : bytes;
        const uint64_t *s = shadow(p, addr, false);
        if (s)
            tell_run(p, node, SLICE_VALUE, true, addr, s, n);
        addr += n;
        bytes -= n;
    }
}

/* ---- nodes ---- */

struct at {
    const struct code_block *b;
    const uint64_t *values;
    struct frame *frame;
    const struct defuse *du;
    const struct flow_call *call;
    const struct flow_access *odd[PLAN_INSNS];
    unsigned odds, i;
    uint32_t thread;
    uint64_t insn;
};

static gaddr extent(const struct at *n, const struct plan_access *a, uint64_t *bytes)
{
    gaddr addr = code_address(a, n->values);
    *bytes = a->mem.bytes;
    if (!code_is_repeated(a))
        return addr;
    int64_t times = code_repeats(n->b, a, n->values);
    *bytes = (uint64_t)(times < 0 ? -times : times) * a->mem.bytes;
    return times < 0 ? addr + a->mem.bytes - *bytes : addr;
}

static const struct plan_access *access_of(const struct at *n, unsigned k)
{
    return &n->b->access[n->b->insn[n->i].access_at + k];
}

static const struct flow_range *ranges_end(const struct flow_note *n)
{
    return (const struct flow_range *)((const uint8_t *)n + n->bytes);
}

static void tell_data(struct pass *p, const struct at *n)
{
    uint64_t bytes;
    for (unsigned k = 0; k < n->du->uses; k++) {
        const struct loc_span *u = &n->du->use[k];
        unsigned kind = u->kind == DEFUSE_ADDRESS ? SLICE_ADDRESS : SLICE_VALUE;
        if (p->edges & kind)
            tell_run(p, n->insn, kind, false, u->first, &p->reg[n->thread][u->first], u->count);
    }
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.read || a->mem.shape == ACCESS_VECTOR)
            continue;
        gaddr addr = extent(n, a, &bytes);
        if (n->b->insn[n->i].in.kind != INSN_RET &&
            (p->o->relocated || !slicer_read_only(p->s, addr, bytes)))
            tell_memory(p, n->insn, addr, bytes);
    }
    if (n->call)
        for (const struct flow_range *r = n->call->range; r + 1 <= ranges_end(&n->call->note); r++)
            if (r->how == FLOW_READ)
                tell_memory(p, n->insn, r->addr, r->bytes);
    for (unsigned k = 0; k < n->odds; k++)
        for (const struct flow_range *r = n->odd[k]->range;
             n->odd[k]->pc == n->b->insn[n->i].in.pc && r + 1 <= ranges_end(&n->odd[k]->note); r++)
            if (r->how == FLOW_READ)
                tell_memory(p, n->insn, r->addr, r->bytes);
}

static void define(struct pass *p, const struct at *n, uint64_t by)
{
    uint64_t bytes;
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++)
            p->reg[n->thread][n->du->def[k].first + i] = by;
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.write || a->mem.shape == ACCESS_VECTOR)
            continue;
        gaddr addr = extent(n, a, &bytes);
        define_memory(p, addr, bytes, by);
    }
    if (n->call)
        for (const struct flow_range *r = n->call->range; r + 1 <= ranges_end(&n->call->note); r++)
            if (r->how != FLOW_READ)
                define_memory(p, r->addr, r->bytes, by);
}

/* ---- control ---- */

static struct head *find_head(const struct pass *p, uint64_t serial)
{
    size_t i = (serial * 0x9e3779b97f4a7c15ull >> 24) & (p->head_room - 1);
    while (p->head[i].serial && p->head[i].serial != serial)
        i = (i + 1) & (p->head_room - 1);
    return &p->head[i];
}

static void add_branch(struct pass *p, uint64_t serial, uint64_t insn, gaddr pc, gaddr next)
{
    if (p->branches == p->branch_room) {
        uint32_t room = p->branch_room ? p->branch_room * 2 : 4096;
        struct branch *list = realloc(p->branch, sizeof *list * room);
        if (!list)
            return;
        p->branch = list;
        p->branch_room = room;
    }
    if (2 * p->heads >= p->head_room) {
        struct head *old = p->head;
        size_t room = p->head_room;
        struct head *list = calloc(room * 2, sizeof *list);
        if (!list)
            return;
        p->head = list;
        p->head_room = room * 2;
        for (size_t i = 0; i < room; i++)
            if (old[i].serial)
                *find_head(p, old[i].serial) = old[i];
        free(old);
    }
    struct head *h = find_head(p, serial);
    if (!h->serial) {
        h->serial = serial;
        p->heads++;
    }
    p->branch[p->branches++] = (struct branch){serial, insn, pc, next, h->last};
    h->last = p->branches;
}

static void tell_control(struct pass *p, const struct at *n, struct err *err)
{
    bool frame_pointer;
    gaddr pc = n->b->insn[n->i].in.pc;
    const struct cfg_function *f =
        control_function(p->control, n->frame->entry, &frame_pointer, err);
    int32_t s = f ? cfg_block_of(f, pc) : CFG_NONE;
    const struct head *h = find_head(p, n->frame->serial);
    for (uint32_t i = h->serial && s >= 0 ? h->last : 0; i; i = p->branch[i - 1].before) {
        const struct branch *b = &p->branch[i - 1];
        int32_t from = cfg_block_of(f, b->pc), to = cfg_block_of(f, b->next);
        if (b->insn != n->insn && from >= 0 && to >= 0 && cfg_depends(f, s, from, to)) {
            tell(p, n->insn, b->insn + 1, SLICE_CONTROL, false, 0, 0);
            return;
        }
    }
    if (n->frame->maker != FRAME_NO_MAKER)
        tell(p, n->insn, n->frame->maker + 1, SLICE_CONTROL, false, 0, 0);
    else if (n->frame->kind == FRAME_ROOT && p->begun[n->thread])
        tell(p, n->insn, p->begun[n->thread], SLICE_CONTROL, false, 0, 0);
}

/* ---- saved registers ---- */

static struct saved *find_saved(const struct pass *p, uint64_t serial, gaddr addr)
{
    size_t i = ((serial + addr) * 0x9e3779b97f4a7c15ull >> 24) & (p->saved_room - 1);
    while (p->saved[i].serial && (p->saved[i].serial != serial || p->saved[i].addr != addr))
        i = (i + 1) & (p->saved_room - 1);
    return &p->saved[i];
}

static void keep_save(struct pass *p, const struct at *n, int reg, gaddr addr)
{
    if (2 * p->saves >= p->saved_room) {
        struct saved *old = p->saved;
        size_t room = p->saved_room;
        struct saved *list = calloc(room * 2, sizeof *list);
        if (!list)
            return;
        p->saved = list;
        p->saved_room = room * 2;
        for (size_t i = 0; i < room; i++)
            if (old[i].serial)
                *find_saved(p, old[i].serial, old[i].addr) = old[i];
        free(old);
    }
    struct saved *s = find_saved(p, n->frame->serial, addr);
    p->saves += !s->serial;
    s->serial = n->frame->serial;
    s->addr = addr;
    memcpy(s->by, &p->reg[n->thread][loc_gpr((unsigned)reg)], sizeof s->by);
}

static bool in_list(const uint32_t *list, uint32_t count, uint32_t insn)
{
    uint32_t lo = 0, hi = count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (list[mid] < insn)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && list[lo] == insn;
}

/* True: the instruction is the restore of a pair, and the register is as it was. */
static bool through_pair(struct pass *p, const struct at *n, const struct scan_chunk *sc,
                         uint32_t insn)
{
    const struct code_insn *ci = &n->b->insn[n->i];
    uint32_t access;
    int reg = scan_saves(ci, n->b, false, &access);
    if (reg >= 0)
        keep_save(p, n, reg, code_address(&n->b->access[access], n->values));
    if (p->o->keep_saves || !in_list(sc->restore, sc->restores, insn))
        return false;
    reg = scan_saves(ci, n->b, true, &access);
    if (reg < 0 || !n->du->defs)
        return false;
    const struct saved *s =
        find_saved(p, n->frame->serial, code_address(&n->b->access[access], n->values));
    if (!s->serial)
        return false;
    memcpy(&p->reg[n->thread][loc_gpr((unsigned)reg)], s->by, sizeof s->by);
    return true;
}

/* ---- the pass ---- */

static int add_who(struct pass *p, const struct at *n, struct err *err)
{
    if (p->whos == p->who_room) {
        uint64_t room = p->who_room ? p->who_room * 2 : 4096;
        struct who *who = realloc(p->who, sizeof *who * room);
        uint64_t *insn = who ? realloc(p->who_insn, sizeof *insn * room) : NULL;
        p->who = who ? who : p->who;
        p->who_insn = insn ? insn : p->who_insn;
        if (!who || !insn)
            return err_set(err, "no memory");
        p->who_room = room;
    }
    gaddr cfa = n->frame->kind == FRAME_CALL ? n->frame->slot + 8 : 0;
    p->who[p->whos] = (struct who){n->b->insn[n->i].in.pc, cfa, n->thread};
    p->who_insn[p->whos++] = n->insn;
    return 0;
}

static void tell_wants(struct pass *p, uint64_t at)
{
    for (size_t i = 0; i < p->wants; i++) {
        const struct slice_want *x = &p->want[i];
        if (x->at != at || !p->edge || x->kind == SLICE_USES)
            continue;
        if (x->kind == SLICE_MEMORY)
            tell_memory(p, UINT64_MAX, x->addr, x->bytes);
        else if (x->thread < p->threads && x->addr < LOC_COUNT && x->bytes <= LOC_COUNT - x->addr)
            tell_run(p, UINT64_MAX, SLICE_VALUE, false, x->addr, &p->reg[x->thread][x->addr],
                     x->bytes);
    }
}

static gaddr call_of(const struct pass *p, const struct frame *f, uint64_t *maker)
{
    const struct who *w = NULL;
    *maker = f->maker;
    if (f->maker != FRAME_NO_MAKER)
        w = find_who(p, f->maker);
    return w ? w->pc : 0;
}

static int do_insn(struct pass *p, struct at *n, const struct scan_chunk *sc, uint32_t insn,
                   struct err *err)
{
    bool frame_pointer = false;
    if (!p->o->stack_pointer && !control_function(p->control, n->frame->entry, &frame_pointer, err))
        return -1;
    unsigned flags = p->o->stack_pointer ? DEFUSE_STACK_POINTER : frame_pointer ? DEFUSE_FRAME : 0;
    n->du = code_defuse(p->s->code, n->b, n->i, flags, n->values);
    if (!n->du)
        return err_set(err, "no memory");
    if (p->edge && through_pair(p, n, sc, insn))
        return 0;
    if (!slice_has(p->slice, n->insn))
        return 0;
    if (add_who(p, n, err))
        return -1;
    if (p->node) {
        struct slice_node node = {.insn = n->insn,
                                  .thread = n->thread,
                                  .count = p->state[n->thread].count,
                                  .pc = n->b->insn[n->i].in.pc,
                                  .cfa = p->who[p->whos - 1].cfa,
                                  .in = &n->b->insn[n->i].in};
        node.call = call_of(p, n->frame, &node.maker);
        p->result = p->node(p->arg, &node);
        return 0;
    }
    tell_data(p, n);
    if (p->edges & SLICE_CONTROL)
        tell_control(p, n, err);
    define(p, n, n->insn + 1);
    return 0;
}

static void settle_branch(struct pass *p, uint32_t thread, const struct frame *now, gaddr pc)
{
    struct pending *b = &p->pending[thread];
    if (b->set && now->serial == b->serial)
        add_branch(p, b->serial, b->insn, b->pc, pc);
    b->set = false;
}

static int do_step(struct pass *p, const struct trace_chunk *c, uint32_t i, struct at *n,
                   const struct scan_chunk *sc, struct err *err)
{
    const struct trace_step *st = &c->step[i];
    const struct code_block *b = code_block(p->s->code, st->block);
    enum frames_effect effect;
    trace_state_enter(&p->state[st->thread], p->s->code, b->pc);
    p->state[st->thread].last = b->number + 1;
    n->b = b;
    n->values = c->value + st->value_at;
    n->thread = st->thread;
    n->frame = frames_enter(&p->frames, st->thread, b, b->pc, &effect);
    if (!n->frame)
        return err_set(err, "no memory");
    settle_branch(p, st->thread, n->frame, b->pc);
    for (n->i = 0; n->i < st->insns && !p->result; n->i++) {
        n->insn = c->first_insn + st->insn_at + n->i;
        const struct flow_call *call = n->call;
        if (b->insn[n->i].in.kind != INSN_SYSCALL)
            n->call = NULL;
        tell_wants(p, n->insn);
        int bad = do_insn(p, n, sc, st->insn_at + n->i, err);
        n->call = call;
        if (bad)
            return -1;
    }
    uint64_t last = c->first_insn + st->insn_at + st->insns - 1u;
    if (st->insns == b->insns && slice_has(p->slice, last))
        p->pending[st->thread] = (struct pending){true, n->frame->serial, last, code_last(b)->pc};
    frames_leave(&p->frames, st, b, n->values, c->first_insn + st->insn_at);
    return 0;
}

static void do_note(struct pass *p, uint32_t thread, const struct flow_note *n, uint64_t insn)
{
    enum { CONTEXT = 48 };
    trace_state_note(&p->state[thread], n->count);
    if (n->kind == FLOW_SIGNAL) {
        const struct flow_signal *s = (const struct flow_signal *)n;
        p->pending[thread].set = false;
        static const uint8_t order[] = {R8,  R9,  R10, R11, R12, R13, R14, R15,
                                        RDI, RSI, RBP, RBX, RDX, RAX, RCX};
        define_memory(p, s->frame, s->end - s->frame, NOBODY);
        for (size_t i = 0; i < sizeof order; i++)
            for (unsigned k = 0; k < 8; k++) {
                uint64_t *m = shadow(p, s->frame + CONTEXT + 8 * i + k, true);
                if (m)
                    *m = p->reg[thread][loc_gpr(order[i]) + k];
            }
    }
    if (n->kind == FLOW_BEGIN) {
        const struct flow_begin *b = (const struct flow_begin *)n;
        uint32_t child = trace_thread_find(p->s->trace, b->thread);
        uint64_t call = insn && slice_has(p->slice, insn - 1) ? insn : NOBODY;
        static const uint8_t made[] = {RAX, RSP, RCX, R11};
        memcpy(p->reg[child], p->reg[thread], sizeof p->reg[child]);
        for (size_t i = 0; i < sizeof made; i++)
            for (unsigned k = 0; k < 8; k++)
                p->reg[child][loc_gpr(made[i]) + k] = call;
        p->reg[child][LOC_FS_BASE] = call;
        p->begun[child] = call;
    }
    const struct flow_call *c = (const struct flow_call *)n;
    if (n->kind == FLOW_CALL && c->nr == 15) {
        static const uint8_t order[] = {R8,  R9,  R10, R11, R12, R13, R14, R15,
                                        RDI, RSI, RBP, RBX, RDX, RAX, RCX};
        memset(p->reg[thread], 0, sizeof p->reg[thread]);
        for (size_t i = 0; i < sizeof order; i++)
            for (unsigned k = 0; k < 8; k++) {
                const uint64_t *m = shadow(p, c->frame + CONTEXT + 8 * i + k, false);
                p->reg[thread][loc_gpr(order[i]) + k] = m ? *m : NOBODY;
            }
    }
    frames_note(&p->frames, thread, n);
}

static int do_chunk(struct pass *p, uint32_t number, struct trace_chunk *c, struct err *err)
{
    if (trace_read(p->s->trace, number, c, err))
        return -1;
    const struct scan_chunk *sc = &p->s->scan.chunk[number];
    uint32_t note = 0, thread = sc->thread;
    for (uint32_t i = 0; i <= c->steps && !p->result; i++) {
        struct at n = {0};
        for (; note < c->notes && c->note[note].step == i; note++) {
            const struct flow_note *f = trace_note(c, note);
            if (f->kind == FLOW_THREAD)
                thread = trace_thread_find(p->s->trace, ((const struct flow_thread *)f)->thread);
            do_note(p, thread, f, c->first_insn + (i < c->steps ? c->step[i].insn_at : c->insns));
        }
        if (i == c->steps)
            break;
        thread = c->step[i].thread;
        for (uint32_t k = note; k < c->notes && c->note[k].step == i + 1; k++) {
            const struct flow_note *f = trace_note(c, k);
            if (f->kind == FLOW_CALL)
                n.call = (const struct flow_call *)f;
            if (f->kind == FLOW_ACCESS && n.odds < PLAN_INSNS)
                n.odd[n.odds++] = (const struct flow_access *)f;
        }
        if (do_step(p, c, i, &n, sc, err))
            return -1;
    }
    return 0;
}

static int pass_init(struct pass *p, struct err *err)
{
    p->threads = trace_threads(p->s->trace);
    p->page_room = p->saved_room = p->head_room = 1 << 12;
    p->page = calloc(p->page_room, sizeof *p->page);
    p->saved = calloc(p->saved_room, sizeof *p->saved);
    p->head = calloc(p->head_room, sizeof *p->head);
    p->reg = calloc(p->threads + 1, sizeof *p->reg);
    p->state = calloc(p->threads + 1, sizeof *p->state);
    p->pending = calloc(p->threads + 1, sizeof *p->pending);
    p->begun = calloc(p->threads + 1, sizeof *p->begun);
    p->control = control_new(p->s->cfg);
    if (!p->page || !p->saved || !p->head || !p->reg || !p->state || !p->pending || !p->begun ||
        !p->control)
        return err_set(err, "no memory");
    return frames_init(&p->frames, p->s->trace, err);
}

static void pass_deinit(struct pass *p)
{
    for (size_t i = 0; p->page && i < p->page_room; i++)
        free(p->page[i].by);
    free(p->page);
    free(p->saved);
    free(p->head);
    free(p->reg);
    free(p->state);
    free(p->pending);
    free(p->begun);
    free(p->branch);
    free(p->who);
    free(p->who_insn);
    control_free(p->control);
    frames_deinit(&p->frames);
}

static int run(struct pass *p, struct err *err)
{
    struct trace_chunk c = {0};
    int bad = pass_init(p, err);
    if (!bad && trace_chunks(p->s->trace)) {
        bad = trace_read(p->s->trace, 0, &c, err);
        for (uint32_t i = 0; !bad && i < c.threads && i < p->threads; i++)
            p->state[i] = c.state[i];
    }
    for (uint32_t i = 0; !bad && !p->result && i < trace_chunks(p->s->trace); i++)
        bad = do_chunk(p, i, &c, err);
    if (!bad && !p->result)
        tell_wants(p, trace_insns(p->s->trace));
    trace_chunk_deinit(&c);
    pass_deinit(p);
    return bad ? -1 : p->result;
}

int slice_edges(struct slicer *s, const struct slice *slice, const struct slice_want *want,
                size_t wants, const struct slice_options *o, slice_edge_fn *fn, void *arg,
                struct err *err)
{
    struct pass p = {.s = s,
                     .slice = slice,
                     .o = o,
                     .edges = o->edges ? o->edges : SLICE_ALL,
                     .edge = fn,
                     .arg = arg,
                     .want = want,
                     .wants = wants};
    return run(&p, err);
}

int slice_nodes(struct slicer *s, const struct slice *slice, slice_node_fn *fn, void *arg,
                struct err *err)
{
    static const struct slice_options none = {.keep_saves = true};
    struct pass p = {.s = s, .slice = slice, .o = &none, .node = fn, .arg = arg};
    return run(&p, err);
}
