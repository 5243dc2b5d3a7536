/* edges.c - why each node of a slice is in it.
 *
 * SPDX-License-Identifier: MIT
 *
 * One pass forwards. The shadow of a location is the node of the slice that defined it last. In a
 * backward slice, nodes that are not in it define nothing that is asked for: they leave no shadow,
 * and steps without nodes are passed over, except that restores bring a register's shadow back from
 * its save, and signals and new threads carry shadows along. In other sets of nodes those that are
 * not in it hide what was defined before. Control: for each frame the branches of the slice that
 * were executed in it are kept, newest first (trail.h).
 *
 * Between the ends of a forward slice or a chop, all branches count (regions.h), and what it is
 * from leaves a shadow of its own.
 */
#include "slicer/walk/edges.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "slicer/slice_private.h"
#include "slicer/walk/copy.h"
#include "slicer/walk/prune.h"
#include "slicer/walk/trail.h"
#include "trace/classes.h"
#include "trace/graph/regions.h"
#include "trace/sigframe.h"

#define NOBODY    0 /* a shadow is a node's place in pass.who plus one */
#define CRITERION UINT32_MAX

/* ---- shadows of memory: pages of 512 bytes ---- */

enum {
    PAGE_SHIFT = 9,
    PAGE = 1 << PAGE_SHIFT,
    PAGES_FEW = 1 << 12,
    PAGES_MOST = 1 << 21, /* shadows of 1 GiB; a stranger's trace may name terabytes */
    WIDES_MOST = 4096,
};

struct page {
    gaddr number; /* address >> PAGE_SHIFT, plus one */
    uint32_t *by; /* for each byte */
};

/* A node of the slice that was met. */
struct who {
    uint64_t insn;
    gaddr pc, cfa;
    uint32_t thread;
};

/* A range with more pages than there are, defined at once: pages are made of it when they are asked
 * for. */
struct wide {
    gaddr addr;
    uint64_t bytes;
    uint32_t by;
};

/* The flags when a signal came. */
struct flags {
    gaddr frame;
    uint32_t by[LOC_DF - LOC_CF + 1];
};

struct pass {
    struct trace_index *s;
    const struct slice *slice;
    const struct slice_options *o;
    unsigned edges;
    slice_edge_fn *edge;
    void *arg;
    struct control *control; /* for functions only */
    TABLE(struct page) page;
    struct wide *wide; /* in the order of their definition */
    size_t wides;
    uint32_t (*reg)[LOC_COUNT]; /* by thread */
    uint32_t threads;
    struct state *state; /* as a resolver saved it */
    struct flags *flags;
    size_t flag_count, flag_room;
    struct who *who; /* in order of their numbers */
    uint32_t whos;
    size_t who_room;
    const struct slice_want **want; /* sorted, those that are still to come */
    size_t wants;
    const struct slice_want **from; /* likewise, of what the slice is from */
    size_t froms;
    bool marked;             /* one of them was met */
    struct regions *regions; /* NULL: not between two ends */
    struct prune prune;
    struct copy copy; /* what the latest node copies */
    bool copies;      /* it does */
    uint64_t next;    /* node of the slice */
    uint32_t *begun;  /* by thread: the shadow of what its making call defined */
    bool ok;          /* there was memory */
    int result;
};

/* The part of a range that is in a page; 0: none. */
static uint64_t part_of(gaddr number, gaddr addr, uint64_t bytes, gaddr *at)
{
    gaddr first = number << PAGE_SHIFT, end = first + PAGE;
    *at = first > addr ? first : addr;
    end = end < addr + bytes ? end : addr + bytes;
    return *at < end ? end - *at : 0;
}

static void set(uint32_t *page, gaddr at, uint64_t count, uint32_t by)
{
    for (uint64_t k = 0; k < count; k++)
        page[(at + k) & (PAGE - 1)] = by;
}

static bool is_covered(const struct pass *p, gaddr number)
{
    gaddr at;
    for (size_t i = 0; i < p->wides; i++)
        if (part_of(number, p->wide[i].addr, p->wide[i].bytes, &at))
            return true;
    return false;
}

/* NULL: nobody has defined anything there; or, not ok, there is no memory. */
static uint32_t *shadow(struct pass *p, gaddr addr, bool make)
{
    const gaddr number = addr >> PAGE_SHIFT;
    struct page *g = table_find(&p->page, number + 1);
    gaddr at;
    if (g->number)
        return &g->by[addr & (PAGE - 1)];
    if (!make && !is_covered(p, number))
        return NULL;
    uint32_t *by = NULL;
    if (p->page.used == PAGES_MOST || table_reserve(&p->page) || !(by = calloc(PAGE, sizeof *by))) {
        p->ok = false;
        return NULL;
    }
    for (size_t i = 0; i < p->wides; i++) {
        uint64_t n = part_of(number, p->wide[i].addr, p->wide[i].bytes, &at);
        set(by, at, n, p->wide[i].by);
    }
    *table_find(&p->page, number + 1) = (struct page){.number = number + 1, .by = by};
    p->page.used++;
    return &by[addr & (PAGE - 1)];
}

/* Has it many pages, and more than there are? */
static bool is_wide(const struct pass *p, uint64_t bytes)
{
    return bytes >> PAGE_SHIFT > PAGES_FEW + p->page.room;
}

static void define_wide(struct pass *p, gaddr addr, uint64_t bytes, uint32_t by)
{
    gaddr at;
    for (size_t i = 0; i < p->page.room; i++)
        if (p->page.slot[i].number) {
            uint64_t n = part_of(p->page.slot[i].number - 1, addr, bytes, &at);
            set(p->page.slot[i].by, at, n, by);
        }
    if (by == NOBODY && !p->wides)
        return;
    if (!p->wide)
        p->wide = malloc(sizeof *p->wide * WIDES_MOST);
    p->ok = p->ok && p->wide && p->wides < WIDES_MOST;
    if (p->ok)
        p->wide[p->wides++] = (struct wide){addr, bytes, by};
}

static void define_memory(struct pass *p, gaddr addr, uint64_t bytes, uint32_t by)
{
    if (is_wide(p, bytes)) {
        define_wide(p, addr, bytes, by);
        return;
    }
    for (uint64_t i = 0; i < bytes && p->ok;) {
        uint32_t *s = shadow(p, addr + i, by != NOBODY);
        uint64_t n = PAGE - ((addr + i) & (PAGE - 1));
        n = n < bytes - i ? n : bytes - i;
        for (uint64_t k = 0; s && k < n; k++)
            s[k] = by;
        i += n;
    }
}

/* ---- telling ---- */

/* The shadow of an instruction; NOBODY: it is no node that was met. */
static uint32_t shadow_of(const struct pass *p, uint64_t insn)
{
    uint32_t at = p->whos ? p->whos - 1 : 0; /* often it is the latest */
    if (p->whos && p->who[at].insn > insn)
        at = (uint32_t)search_below(p->who, p->whos, insn, insn);
    return at < p->whos && p->who[at].insn == insn ? at + 1 : NOBODY;
}

/* `node` is the latest one, or UINT64_MAX. */
static void tell(struct pass *p, uint64_t node, uint32_t by, unsigned kind, bool memory,
                 uint64_t addr, uint64_t bytes)
{
    static const struct who criterion = {.insn = UINT64_MAX}, nobody = {.insn = SLICE_NOBODY};
    if (p->result || (by == NOBODY && !(memory && p->o->unset)))
        return;
    const struct who *b = by == CRITERION ? &criterion : by == NOBODY ? &nobody : &p->who[by - 1];
    if (by != CRITERION && b->insn == node)
        return;
    struct slice_dependence d = {.node = node,
                                 .on = b->insn,
                                 .kind = kind,
                                 .memory = memory,
                                 .addr = addr,
                                 .bytes = bytes,
                                 .on_thread = b->thread,
                                 .on_pc = b->pc,
                                 .on_cfa = b->cfa};
    if (node != UINT64_MAX) {
        const struct who *a = &p->who[p->whos - 1];
        d.node_thread = a->thread;
        d.node_pc = a->pc;
        d.node_cfa = a->cfa;
        d.copy = p->copies ? &p->copy : NULL;
    }
    p->result = p->edge(p->arg, &d);
}

/* Neighbours with the same shadow are one edge. */
static void tell_run(struct pass *p, uint64_t node, unsigned kind, bool memory, uint64_t first,
                     const uint32_t *by, uint64_t count)
{
    for (uint64_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && by[k] == by[i]; k++)
            ;
        tell(p, node, by[i], kind, memory, first + i, k - i);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct page *const *x = a, *const *y = b;
    return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

/* Only pages that are there have something to tell. */
static void tell_wide(struct pass *p, uint64_t node, gaddr addr, uint64_t bytes)
{
    const struct page **list = malloc(sizeof *list * (p->page.used + 1));
    size_t count = 0;
    gaddr at;
    p->ok &= list != NULL;
    for (size_t i = 0; list && i < p->page.room; i++)
        if (p->page.slot[i].number && part_of(p->page.slot[i].number - 1, addr, bytes, &at))
            list[count++] = &p->page.slot[i];
    if (count)
        qsort(list, count, sizeof *list, by_address);
    for (size_t i = 0; i < count; i++) {
        uint64_t n = part_of(list[i]->number - 1, addr, bytes, &at);
        tell_run(p, node, SLICE_VALUE, true, at, &list[i]->by[at & (PAGE - 1)], n);
    }
    free(list);
}

static void tell_memory(struct pass *p, uint64_t node, gaddr addr, uint64_t bytes)
{
    if (!p->wides && is_wide(p, bytes)) {
        tell_wide(p, node, addr, bytes);
        return;
    }
    p->ok &= bytes >> PAGE_SHIFT <= PAGES_MOST;
    while (bytes && p->ok) {
        uint64_t n = PAGE - (addr & (PAGE - 1));
        n = n < bytes ? n : bytes;
        const uint32_t *s = shadow(p, addr, false);
        if (s)
            tell_run(p, node, SLICE_VALUE, true, addr, s, n);
        else
            tell(p, node, NOBODY, SLICE_VALUE, true, addr, n);
        addr += n;
        bytes -= n;
    }
}

/* ---- nodes ---- */

/* What a node uses, without what is pruned. */
static void tell_use(struct pass *p, const struct forward_at *n, gaddr addr, uint64_t bytes)
{
    struct prune_user by = prune_user(n->in->pc, n->frame);
    uint64_t at = addr, count;
    for (; prune_next(&p->prune, &by, true, &at, addr + bytes, &count); at += count)
        tell_memory(p, n->insn, at, count);
}

static void tell_locs(struct pass *p, const struct forward_at *n, unsigned kind,
                      const struct loc_span *u)
{
    struct prune_user by = prune_user(n->in->pc, n->frame);
    uint64_t at = u->first, end = at + u->count, count;
    for (; prune_next(&p->prune, &by, false, &at, end, &count); at += count)
        tell_run(p, n->insn, kind, false, at, &p->reg[n->thread][at], count);
}

static void tell_ranges(struct pass *p, const struct forward_at *n, const struct flow_note *note)
{
    size_t ranges;
    const struct flow_range *r = trace_ranges(note, &ranges);
    for (; ranges--; r++)
        if (r->how == FLOW_READ)
            tell_use(p, n, r->addr, r->bytes);
}

/* Bytes that the copy has written itself are no use. */
static void tell_copied(struct pass *p, const struct forward_at *n, const struct copied *c)
{
    uint64_t at = 0, count;
    for (; copied_next(c, &at, &count); at += count)
        tell_use(p, n, c->from + at, count);
}

static void tell_data(struct pass *p, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    struct copied copied;
    for (unsigned k = 0; k < n->du->uses; k++) {
        const struct loc_span *u = &n->du->use[k];
        unsigned kind = u->kind == DEFUSE_ADDRESS ? SLICE_ADDRESS : SLICE_VALUE;
        if (p->edges & kind)
            tell_locs(p, n, kind, u);
    }
    if (forward_copies(n, &copied)) {
        tell_copied(p, n, &copied);
        return;
    }
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.read && !n->intact && forward_extent(n, k, &addr, &bytes) &&
            (p->o->relocated || !trace_index_read_only(p->s, addr, bytes)))
            tell_use(p, n, addr, bytes);
    if (n->call)
        tell_ranges(p, n, &n->call->note);
    if (n->odd)
        tell_ranges(p, n, &n->odd->note);
}

static void define_ranges(struct pass *p, const struct flow_note *note, uint32_t by)
{
    size_t ranges;
    const struct flow_range *r = trace_ranges(note, &ranges);
    for (; ranges--; r++)
        if (r->how != FLOW_READ)
            define_memory(p, r->addr, r->bytes, by);
}

static void define(struct pass *p, const struct forward_at *n, uint32_t by)
{
    gaddr addr;
    uint64_t bytes;
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++)
            p->reg[n->thread][n->du->def[k].first + i] = by;
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write && forward_extent(n, k, &addr, &bytes))
            define_memory(p, addr, bytes, by);
    if (n->call)
        define_ranges(p, &n->call->note, by);
    if (n->odd)
        define_ranges(p, &n->odd->note, by);
}

/* Not a node: what it defines is not the slice's any more, unless that may have stayed. */
static void take_away(struct pass *p, const struct forward_at *n)
{
    struct loc_set kept = {{0}};
    gaddr addr;
    uint64_t bytes;
    for (unsigned k = 0; k < n->du->uses; k++)
        if (n->du->use[k].kind == DEFUSE_KEPT)
            loc_set_add(&kept, n->du->use[k].first, n->du->use[k].count);
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++)
            if (!loc_set_has(&kept, n->du->def[k].first + i))
                p->reg[n->thread][n->du->def[k].first + i] = NOBODY;
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write && !n->du->access[k].may &&
            forward_extent(n, k, &addr, &bytes))
            define_memory(p, addr, bytes, NOBODY);
    if (n->call)
        define_ranges(p, &n->call->note, NOBODY);
}

/* ---- control ---- */

static void tell_control(struct pass *p, const struct forward_at *n, struct err *err)
{
    bool frame_pointer;
    gaddr pc = n->in->pc;
    uint64_t branch = p->regions ? regions_branch(p->regions, n->frame, pc) : REGIONS_NONE;
    if (branch != REGIONS_NONE) {
        tell(p, n->insn, shadow_of(p, branch), SLICE_CONTROL, false, 0, 0);
        return;
    }
    const struct cfg_function *f =
        control_function(p->control, n->frame->entry, &frame_pointer, err);
    int32_t s = f && !p->regions ? cfg_block_of(f, pc) : CFG_NONE;
    for (const struct trail_branch *b = s >= 0 ? trail_latest(n->frame) : NULL; b;
         b = trail_before(n->frame, b)) {
        int32_t from = cfg_block_of(f, b->pc), to = cfg_block_of(f, b->next);
        if (from >= 0 && to >= 0 && cfg_depends(f, s, from, to)) {
            tell(p, n->insn, b->node, SLICE_CONTROL, false, 0, 0);
            return;
        }
    }
    if (n->frame->maker != FRAME_NO_MAKER)
        tell(p, n->insn, shadow_of(p, n->frame->maker), SLICE_CONTROL, false, 0, 0);
    else if (n->frame->kind == FRAME_ROOT)
        tell(p, n->insn, p->begun[n->thread], SLICE_CONTROL, false, 0, 0);
}

/* ---- saved registers ---- */

/* True: the instruction is the restore of a pair, and the register is as it was. */
static bool through_pair(struct pass *p, const struct forward_at *n)
{
    uint32_t(*reg)[LOC_COUNT] = &p->reg[n->thread];
    if (n->saves >= 0) {
        struct trail *t = trail_of(n->frame);
        p->ok = p->ok && t && !trail_save(t, n->pair, &(*reg)[loc_gpr((unsigned)n->saves)]);
    }
    const uint32_t *by = n->restores >= 0 ? trail_saved(n->frame, n->pair) : NULL;
    if (!by)
        return false;
    memcpy(&(*reg)[loc_gpr((unsigned)n->restores)], by, 8 * sizeof *by);
    return true;
}

static void through_state(struct pass *p, const struct forward_at *n)
{
    uint32_t *reg = &p->reg[n->thread][STATE_FIRST];
    if (state_restores(n->in))
        state_take(&p->state, n->frame, reg, STATE_COUNT * sizeof *reg);
    else
        state_keep(&p->state, n->frame, reg, STATE_COUNT * sizeof *reg);
}

/* ---- the pass ---- */

static int add_who(struct pass *p, const struct forward_at *n, struct err *err)
{
    gaddr cfa = n->frame->kind == FRAME_CALL ? n->frame->slot + 8 : 0;
    const struct who new = {n->insn, n->in->pc, cfa, n->thread};
    if (p->whos == UINT32_MAX || array_push(&p->who, &p->whos, &p->who_room, new))
        return err_set(err, "no memory");
    return 0;
}

/* What is wanted at or before instruction `at`. */
static void tell_wants(struct pass *p, uint64_t at)
{
    for (; p->wants && (*p->want)->at <= at; p->want++, p->wants--) {
        const struct slice_want *x = *p->want;
        if (x->kind == SLICE_MEMORY)
            tell_memory(p, UINT64_MAX, x->addr, x->bytes);
        else if (x->kind == SLICE_REGISTER && x->thread < p->threads && x->addr < LOC_COUNT &&
                 x->bytes <= LOC_COUNT - x->addr)
            tell_run(p, UINT64_MAX, SLICE_VALUE, false, x->addr, &p->reg[x->thread][x->addr],
                     x->bytes);
    }
}

/* What the slice is from, if that is at or before instruction `at`, has a shadow. */
static void mark_from(struct pass *p, uint64_t at)
{
    for (; p->froms && (*p->from)->at <= at; p->from++, p->froms--) {
        const struct slice_want *x = *p->from;
        p->marked = true;
        if (x->kind == SLICE_MEMORY)
            define_memory(p, x->addr, x->bytes, CRITERION);
        else if (x->kind == SLICE_REGISTER && x->thread < p->threads && x->addr < LOC_COUNT)
            for (uint64_t k = 0; k < x->bytes && x->addr + k < LOC_COUNT; k++)
                p->reg[x->thread][x->addr + k] = CRITERION;
    }
}

static bool is_node(struct pass *p, uint64_t insn)
{
    if (p->next < insn)
        p->next = slice_next(p->slice, insn);
    return p->next == insn;
}

static bool quiet(void *arg, uint64_t first, uint64_t insns)
{
    struct pass *p = arg;
    is_node(p, first);
    if (p->next < first + insns || (p->wants && (*p->want)->at < first + insns))
        return false;
    if (!p->regions)
        return p->slice->closed;
    /* before what it is from, or behind all nodes */
    return !p->marked && !p->whos ? !p->froms || (*p->from)->at >= first + insns
                                  : p->next == UINT64_MAX && !p->wants;
}

/* What the walk passed over has no nodes, and leaves what was asked for as it is: registers that
 * were looked for are not even saved there. */
static bool passes(void *arg, uint32_t chunk)
{
    const struct pass *p = arg;
    return p->slice->closed && p->slice->passed[chunk];
}

static int do_insn(void *arg, const struct forward_at *n, struct err *err)
{
    struct pass *p = arg;
    tell_wants(p, n->insn);
    if (n->frame->resolver && state_is(n->in))
        through_state(p, n);
    mark_from(p, n->insn);
    bool pair = n->du && through_pair(p, n), in = n->du && is_node(p, n->insn);
    if (in && add_who(p, n, err))
        return -1;
    p->copies = in && !pair && copy_of(n, &p->copy);
    if (in)
        tell_data(p, n);
    if (in && (p->edges & SLICE_CONTROL))
        tell_control(p, n, err);
    if (in && !pair)
        define(p, n, p->whos);
    else if (n->du && !pair && !p->slice->closed)
        take_away(p, n);
    return p->ok ? p->result : err_set(err, "no memory");
}

static int went(void *arg, const struct forward_went *w, struct err *err)
{
    struct pass *p = arg;
    if (p->regions)
        return regions_went(p->regions, w->frame, w->insn, w->pc, w->next, err);
    uint32_t node = shadow_of(p, w->insn);
    struct trail *t = node == NOBODY ? NULL : trail_of(w->frame);
    if (node != NOBODY && (!t || trail_add(t, w->pc, w->next, node)))
        return err_set(err, "no memory");
    return 0;
}

static struct flags *find_flags(struct pass *p, gaddr frame)
{
    for (size_t i = 0; i < p->flag_count; i++)
        if (p->flags[i].frame == frame)
            return &p->flags[i];
    return NULL;
}

static void keep_flags(struct pass *p, gaddr frame, const uint32_t *by)
{
    struct flags *f = find_flags(p, frame);
    if (!f && array_reserve(&p->flags, &p->flag_room, p->flag_count + 1)) {
        p->ok = false;
        return;
    }
    f = f ? f : &p->flags[p->flag_count++];
    f->frame = frame;
    memcpy(f->by, by, sizeof f->by);
}

static int signalled(void *arg, uint32_t thread, const struct flow_signal *s, struct err *err)
{
    struct pass *p = arg;
    keep_flags(p, s->frame, &p->reg[thread][LOC_CF]);
    define_memory(p, s->frame, s->end - s->frame, NOBODY);
    for (size_t i = 0; i < sizeof forward_context; i++)
        for (unsigned k = 0; k < 8; k++)
            define_memory(p, s->frame + FORWARD_CONTEXT + 8 * i + k, 1,
                          p->reg[thread][loc_gpr(forward_context[i]) + k]);
    struct sigframe f;
    sigframe_init(&f, s->fpstate, s->end);
    for (size_t i = 0; i < f.places; i++)
        for (unsigned k = 0; k < f.place[i].bytes; k++)
            define_memory(p, f.place[i].at + k, 1, p->reg[thread][f.place[i].loc + k]);
    if (!p->ok)
        return err_set(err, "no memory");
    static const uint8_t fresh[] = {RDI, RSI, RDX, RAX};
    for (size_t i = 0; i < sizeof fresh; i++)
        memset(&p->reg[thread][loc_gpr(fresh[i])], 0, sizeof **p->reg * LOC_GPR_BYTES);
    memset(&p->reg[thread][LOC_VEC], 0, sizeof **p->reg * (LOC_CF - LOC_VEC));
    memset(&p->reg[thread][LOC_C0], 0, sizeof **p->reg * (LOC_MXCSR_STATUS - LOC_C0 + 1));
    p->reg[thread][LOC_DF] = NOBODY;
    return 0;
}

static uint32_t shadow_at(struct pass *p, gaddr addr)
{
    const uint32_t *m = shadow(p, addr, false);
    return m ? *m : NOBODY;
}

static int returned(void *arg, uint32_t thread, const struct flow_call *c,
                    const struct scan_signal *by, struct err *err)
{
    struct pass *p = arg;
    struct sigframe f;
    uint32_t *reg = p->reg[thread];
    const struct flags *flags = find_flags(p, c->frame);
    memset(reg, 0, sizeof p->reg[thread]);
    for (size_t i = 0; i < sizeof forward_context; i++)
        for (unsigned k = 0; k < 8; k++)
            reg[loc_gpr(forward_context[i]) + k] =
                shadow_at(p, c->frame + FORWARD_CONTEXT + 8 * i + k);
    sigframe_init(&f, by ? by->fpstate : 0, by ? by->end : 0);
    for (size_t i = 0; i < f.places; i++)
        for (unsigned k = 0; k < f.place[i].bytes; k++)
            reg[f.place[i].loc + k] = shadow_at(p, f.place[i].at + k);
    for (unsigned k = 0; k <= LOC_DF - LOC_CF; k++) {
        uint32_t who = shadow_at(p, c->frame + FORWARD_CONTEXT_FLAGS + k % 4);
        reg[LOC_CF + k] = who != NOBODY ? who : flags ? flags->by[k] : NOBODY;
    }
    return p->ok ? 0 : err_set(err, "no memory");
}

static int begun(void *arg, uint32_t thread, uint32_t child, uint64_t call, struct err *err)
{
    struct pass *p = arg;
    (void)err;
    static const uint8_t made[] = {RAX, RSP, RCX, R11};
    uint32_t by = call != UINT64_MAX ? shadow_of(p, call) : NOBODY;
    memcpy(p->reg[child], p->reg[thread], sizeof p->reg[child]);
    for (size_t i = 0; i < sizeof made; i++)
        for (unsigned k = 0; k < 8; k++)
            p->reg[child][loc_gpr(made[i]) + k] = by;
    p->reg[child][LOC_FS_BASE] = by;
    p->begun[child] = by;
    return 0;
}

static int did(void *arg, uint32_t thread, uint64_t insn, const struct flow_did *d, struct err *err)
{
    struct pass *p = arg;
    (void)err;
    struct loc_set set;
    const uint32_t by = shadow_of(p, insn);
    classes_locations(d->wrote, &set);
    for (unsigned loc = 0; loc < LOC_COUNT; loc++)
        if (loc_set_has(&set, loc))
            p->reg[thread][loc] = by;
    if (d->how & FLOW_BEGAN)
        p->begun[thread] = by;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct slice_want *const *x = a, *const *y = b;
    return (*x)->at != (*y)->at ? ((*x)->at > (*y)->at ? 1 : -1) : 0;
}

static int pass_init(struct pass *p, struct err *err)
{
    p->threads = trace_threads(p->s->trace);
    p->reg = calloc(p->threads + 1, sizeof *p->reg);
    p->begun = calloc(p->threads + 1, sizeof *p->begun);
    p->control = control_new(p->s->cfg);
    if (table_reserve(&p->page) || !p->reg || !p->begun || !p->control)
        return err_set(err, "no memory");
    return 0;
}

static void pass_deinit(struct pass *p)
{
    for (size_t i = 0; i < p->page.room; i++)
        free(p->page.slot[i].by);
    free(p->page.slot);
    free(p->wide);
    state_free(p->state);
    free(p->reg);
    free(p->begun);
    free(p->flags);
    free(p->who);
    regions_free(p->regions);
    prune_deinit(&p->prune);
    control_free(p->control);
}

/* In the order in which they are met. NULL: no memory. */
static const struct slice_want **sorted(const struct slice_want *want, size_t wants)
{
    const struct slice_want **list = malloc(sizeof *list * (wants + 1));
    for (size_t i = 0; list && i < wants; i++)
        list[i] = &want[i];
    if (list)
        qsort(list, wants, sizeof *list, by_place);
    return list;
}

static int run(struct pass *p, bool between, struct err *err)
{
    struct forward_visitor v = {.arg = p,
                                .quiet = quiet,
                                .passes = passes,
                                .insn = do_insn,
                                .went = went,
                                .signal = signalled,
                                .sigreturn = returned,
                                .begin = begun,
                                .did = did};
    const struct forward_options how = slice_forward_options(p->o);
    v.first = p->next == UINT64_MAX ? 0 : p->next;
    if (p->froms && p->from[0]->at < v.first)
        v.first = p->from[0]->at;
    v.last = p->wants ? p->want[p->wants - 1]->at : 0;
    if (slice_count(p->slice) && slice_previous(p->slice, UINT64_MAX) > v.last)
        v.last = slice_previous(p->slice, UINT64_MAX);
    int end = pass_init(p, err) || prune_init(&p->prune, p->o, err) ? -1 : 0;
    if (!end && between && !(p->regions = regions_new(p->control)))
        end = err_set(err, "no memory");
    if (!end)
        end = forward_pass(p->s, &how, &v, err);
    if (!end) {
        tell_wants(p, trace_insns(p->s->trace));
        end = p->ok ? p->result : err_set(err, "no memory");
    }
    pass_deinit(p);
    return end;
}

static int tell_all(struct trace_index *s, const struct slice *slice, const struct slice_ends *ends,
                    bool between, const struct slice_options *o, slice_edge_fn *fn, void *arg,
                    struct err *err)
{
    const struct slice_want **from = sorted(ends->from, ends->froms);
    const struct slice_want **want = sorted(ends->to, ends->tos);
    struct pass p = {.s = s,
                     .slice = slice,
                     .o = o,
                     .edges = o->edges ? o->edges : SLICE_ALL,
                     .edge = fn,
                     .arg = arg,
                     .want = want,
                     .wants = ends->tos,
                     .from = from,
                     .froms = ends->froms,
                     .next = slice_next(slice, o->first),
                     .ok = true};
    int end = from && want ? run(&p, between, err) : err_set(err, "no memory");
    free(from);
    free(want);
    return end;
}

int slice_edges(struct trace_index *s, const struct slice *slice, const struct slice_want *want,
                size_t wants, const struct slice_options *o, slice_edge_fn *fn, void *arg,
                struct err *err)
{
    struct slice_ends ends = {.to = want, .tos = wants};
    return tell_all(s, slice, &ends, false, o, fn, arg, err);
}

int slice_edges_between(struct trace_index *s, const struct slice *slice,
                        const struct slice_ends *ends, const struct slice_options *o,
                        slice_edge_fn *fn, void *arg, struct err *err)
{
    return tell_all(s, slice, ends, true, o, fn, arg, err);
}
