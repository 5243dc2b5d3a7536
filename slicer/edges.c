/* edges.c - why each node of a slice is in it.
 *
 * SPDX-License-Identifier: MIT
 *
 * One pass forwards. The shadow of a location is the node of the slice that defined it last; nodes
 * that are not in the slice define nothing that is asked for, so they leave no trace, except that
 * restores bring a register's shadow back from its save, and signals and new threads carry shadows
 * along. Control: for each frame the branches of the slice that were executed in it are kept,
 * newest first.
 *
 * In a forward slice and a chop, others do define what its nodes use. There they take shadows away,
 * and all branches count (regions.h); what the slice is from leaves a shadow of its own.
 */
#include "slicer/edges.h"

#include <stdlib.h>
#include <string.h>

#include "slicer/forward.h"
#include "slicer/prune.h"
#include "slicer/regions.h"

#define NOBODY 0 /* a shadow is a node's number plus one */
#define CRITERION UINT64_MAX

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
    struct who {
        gaddr pc, cfa;
        uint32_t thread;
    } * who; /* of slice nodes, in order of their numbers */
    uint64_t *who_insn;
    uint64_t whos, who_room;
    const struct slice_want *want;
    size_t wants;
    const struct slice_want *from; /* that a forward slice is of */
    size_t froms;
    struct regions *regions; /* NULL: a backward slice */
    bool lost; /* there was no memory for one */
    struct prune prune;
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
    if (p->result || (!b && by != CRITERION) || by - 1 == node)
        return;
    struct slice_dependence d = {.node = node,
                                 .on = b ? by - 1 : UINT64_MAX,
                                 .kind = kind,
                                 .memory = memory,
                                 .addr = addr,
                                 .bytes = bytes};
    if (b) {
        d.on_thread = b->thread;
        d.on_pc = b->pc;
        d.on_cfa = b->cfa;
    }
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

static void tell_ranges(struct pass *p, const struct forward_at *n, const struct flow_range *r,
                        const struct flow_note *note)
{
    for (; r + 1 <= forward_ranges_end(note); r++)
        if (r->how == FLOW_READ)
            tell_use(p, n, r->addr, r->bytes);
}

static void tell_data(struct pass *p, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    for (unsigned k = 0; k < n->du->uses; k++) {
        const struct loc_span *u = &n->du->use[k];
        unsigned kind = u->kind == DEFUSE_ADDRESS ? SLICE_ADDRESS : SLICE_VALUE;
        if (p->edges & kind)
            tell_locs(p, n, kind, u);
    }
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.read && !n->intact && forward_extent(n, k, &addr, &bytes) &&
            (p->o->relocated || !slicer_read_only(p->s, addr, bytes)))
            tell_use(p, n, addr, bytes);
    if (n->call)
        tell_ranges(p, n, n->call->range, &n->call->note);
    if (n->odd)
        tell_ranges(p, n, n->odd->range, &n->odd->note);
}

static void define_ranges(struct pass *p, const struct flow_range *r, const struct flow_note *note,
                          uint64_t by)
{
    for (; r + 1 <= forward_ranges_end(note); r++)
        if (r->how != FLOW_READ)
            define_memory(p, r->addr, r->bytes, by);
}

static void define(struct pass *p, const struct forward_at *n, uint64_t by)
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
        define_ranges(p, n->call->range, &n->call->note, by);
    if (n->odd)
        define_ranges(p, n->odd->range, &n->odd->note, by);
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
        define_ranges(p, n->call->range, &n->call->note, NOBODY);
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

static void tell_control(struct pass *p, const struct forward_at *n, struct err *err)
{
    bool frame_pointer;
    gaddr pc = n->in->pc;
    uint64_t branch = p->regions ? regions_branch(p->regions, n->frame, pc) : REGIONS_NONE;
    if (branch != REGIONS_NONE) {
        tell(p, n->insn, branch + 1, SLICE_CONTROL, false, 0, 0);
        return;
    }
    const struct cfg_function *f =
        control_function(p->control, n->frame->entry, &frame_pointer, err);
    int32_t s = f && !p->regions ? cfg_block_of(f, pc) : CFG_NONE;
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

static void keep_shadows(struct pass *p, uint64_t serial, gaddr addr, const uint64_t by[8])
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
    struct saved *s = find_saved(p, serial, addr);
    p->saves += !s->serial;
    s->serial = serial;
    s->addr = addr;
    memcpy(s->by, by, sizeof s->by);
}

/* True: the instruction is the restore of a pair, and the register is as it was. */
static bool through_pair(struct pass *p, const struct forward_at *n)
{
    if (n->saves >= 0)
        keep_shadows(p, n->frame->serial, n->pair, &p->reg[n->thread][loc_gpr((unsigned)n->saves)]);
    const struct saved *s = n->restores >= 0 ? find_saved(p, n->frame->serial, n->pair) : NULL;
    if (!s || !s->serial)
        return false;
    memcpy(&p->reg[n->thread][loc_gpr((unsigned)n->restores)], s->by, sizeof s->by);
    return true;
}

/* ---- the pass ---- */

static int add_who(struct pass *p, const struct forward_at *n, struct err *err)
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
    p->who[p->whos] = (struct who){n->in->pc, cfa, n->thread};
    p->who_insn[p->whos++] = n->insn;
    return 0;
}

/* What is wanted before instruction `at`: the slice is from there, or leads there. */
static void mark_wants(struct pass *p, uint64_t at)
{
    for (size_t i = 0; i < p->froms; i++) {
        const struct slice_want *x = &p->from[i];
        if (x->at != at || x->kind == SLICE_USES)
            continue;
        if (x->kind == SLICE_MEMORY)
            define_memory(p, x->addr, x->bytes, CRITERION);
        else if (x->thread < p->threads && x->addr < LOC_COUNT && x->bytes <= LOC_COUNT - x->addr)
            for (uint64_t k = 0; k < x->bytes; k++)
                p->reg[x->thread][x->addr + k] = CRITERION;
    }
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

static void tell_node(struct pass *p, const struct forward_at *n)
{
    struct slice_node node = {.insn = n->insn,
                              .thread = n->thread,
                              .count = n->count,
                              .pc = n->in->pc,
                              .cfa = p->who[p->whos - 1].cfa,
                              .in = n->in};
    node.call = call_of(p, n->frame, &node.maker);
    p->result = p->node(p->arg, &node);
}

static int do_insn(void *arg, const struct forward_at *n, struct err *err)
{
    struct pass *p = arg;
    if (p->lost)
        return err_set(err, "no memory");
    if (p->edge)
        tell_wants(p, n->insn);
    mark_wants(p, n->insn);
    bool pair = n->du && p->edge && through_pair(p, n);
    if (!n->du || !slice_has(p->slice, n->insn)) {
        if (p->regions && n->du && !pair)
            take_away(p, n);
        return p->result;
    }
    if (add_who(p, n, err))
        return -1;
    if (p->node) {
        tell_node(p, n);
        return p->result;
    }
    tell_data(p, n);
    if (p->edges & SLICE_CONTROL)
        tell_control(p, n, err);
    if (!pair)
        define(p, n, n->insn + 1);
    return p->result;
}

static void went(void *arg, struct frame *frame, uint64_t insn, gaddr pc, gaddr next)
{
    struct pass *p = arg;
    struct err err;
    if (p->regions)
        p->lost |= regions_went(p->regions, frame, insn, pc, next, &err) != 0;
    if (!p->regions && slice_has(p->slice, insn))
        add_branch(p, frame->serial, insn, pc, next);
}

/* Bytes of vector register i that a signal's frame has: the low 16, and the next 16. */
static gaddr vector_place(gaddr fpstate, unsigned i, unsigned k)
{
    enum { XMM_AT = 160, YMM_AT = 576 };
    return fpstate + (k < 16 ? XMM_AT + 16 * i + k : YMM_AT + 16 * i + k - 16);
}

#define FLAGS_OF_FRAME UINT64_MAX /* for find_saved(): those of the frame at an address */

static void signalled(void *arg, uint32_t thread, const struct flow_signal *s)
{
    struct pass *p = arg;
    uint64_t flags[8] = {0};
    memcpy(flags, &p->reg[thread][LOC_CF], sizeof *flags * (LOC_DF - LOC_CF + 1));
    keep_shadows(p, FLAGS_OF_FRAME, s->frame, flags);
    define_memory(p, s->frame, s->end - s->frame, NOBODY);
    for (size_t i = 0; i < sizeof forward_context; i++)
        for (unsigned k = 0; k < 8; k++)
            define_memory(p, s->frame + FORWARD_CONTEXT + 8 * i + k, 1,
                          p->reg[thread][loc_gpr(forward_context[i]) + k]);
    for (unsigned i = 0; s->fpstate && i < 16; i++)
        for (unsigned k = 0; k < 32; k++)
            define_memory(p, vector_place(s->fpstate, i, k), 1, p->reg[thread][loc_vec(i) + k]);
    if (!p->regions)
        return; /* nobody has asked for them */
    static const uint8_t fresh[] = {RDI, RSI, RDX, RAX};
    for (size_t i = 0; i < sizeof fresh; i++)
        memset(&p->reg[thread][loc_gpr(fresh[i])], 0, sizeof **p->reg * LOC_GPR_BYTES);
    memset(&p->reg[thread][LOC_VEC], 0, sizeof **p->reg * (LOC_CF - LOC_VEC));
    memset(&p->reg[thread][LOC_C0], 0, sizeof **p->reg * (LOC_MXCSR_STATUS - LOC_C0 + 1));
    p->reg[thread][LOC_DF] = NOBODY;
}

static uint64_t shadow_at(struct pass *p, gaddr addr)
{
    const uint64_t *m = shadow(p, addr, false);
    return m ? *m : NOBODY;
}

static void returned(void *arg, uint32_t thread, const struct flow_call *c, gaddr fpstate)
{
    struct pass *p = arg;
    uint64_t *reg = p->reg[thread];
    const struct saved *flags = find_saved(p, FLAGS_OF_FRAME, c->frame);
    memset(reg, 0, sizeof p->reg[thread]);
    for (size_t i = 0; i < sizeof forward_context; i++)
        for (unsigned k = 0; k < 8; k++)
            reg[loc_gpr(forward_context[i]) + k] =
                shadow_at(p, c->frame + FORWARD_CONTEXT + 8 * i + k);
    for (unsigned i = 0; fpstate && i < 16; i++)
        for (unsigned k = 0; k < 32; k++)
            reg[loc_vec(i) + k] = shadow_at(p, vector_place(fpstate, i, k));
    for (unsigned k = 0; k <= LOC_DF - LOC_CF; k++) {
        uint64_t by = shadow_at(p, c->frame + FORWARD_CONTEXT_FLAGS + k % 4);
        reg[LOC_CF + k] = by != NOBODY ? by : flags->serial ? flags->by[k] : NOBODY;
    }
}

static void begun(void *arg, uint32_t thread, uint32_t child, uint64_t call)
{
    struct pass *p = arg;
    static const uint8_t made[] = {RAX, RSP, RCX, R11};
    uint64_t by = call != UINT64_MAX && slice_has(p->slice, call) ? call + 1 : NOBODY;
    memcpy(p->reg[child], p->reg[thread], sizeof p->reg[child]);
    for (size_t i = 0; i < sizeof made; i++)
        for (unsigned k = 0; k < 8; k++)
            p->reg[child][loc_gpr(made[i]) + k] = by;
    p->reg[child][LOC_FS_BASE] = by;
    p->begun[child] = by;
}

static int pass_init(struct pass *p, struct err *err)
{
    p->threads = trace_threads(p->s->trace);
    p->page_room = p->saved_room = p->head_room = 1 << 12;
    p->page = calloc(p->page_room, sizeof *p->page);
    p->saved = calloc(p->saved_room, sizeof *p->saved);
    p->head = calloc(p->head_room, sizeof *p->head);
    p->reg = calloc(p->threads + 1, sizeof *p->reg);
    p->begun = calloc(p->threads + 1, sizeof *p->begun);
    p->control = control_new(p->s->cfg);
    if (!p->page || !p->saved || !p->head || !p->reg || !p->begun || !p->control)
        return err_set(err, "no memory");
    return 0;
}

static void pass_deinit(struct pass *p)
{
    for (size_t i = 0; p->page && i < p->page_room; i++)
        free(p->page[i].by);
    free(p->page);
    free(p->saved);
    free(p->head);
    free(p->reg);
    free(p->begun);
    free(p->branch);
    free(p->who);
    free(p->who_insn);
    regions_free(p->regions);
    prune_deinit(&p->prune);
    control_free(p->control);
}

static int run(struct pass *p, bool between, struct err *err)
{
    const struct forward_visitor v = {.arg = p,
                                      .insn = do_insn,
                                      .went = went,
                                      .signal = signalled,
                                      .sigreturn = returned,
                                      .begin = begun};
    int end = pass_init(p, err) || prune_init(&p->prune, p->o, err) ? -1 : 0;
    if (!end && between && !(p->regions = regions_new(p->control)))
        end = err_set(err, "no memory");
    if (!end)
        end = forward_pass(p->s, p->o, &v, err);
    if (!end && p->edge) {
        tell_wants(p, trace_insns(p->s->trace));
        end = p->result;
    }
    pass_deinit(p);
    return end;
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
    return run(&p, false, err);
}

int slice_edges_between(struct slicer *s, const struct slice *slice, const struct slice_ends *ends,
                        const struct slice_options *o, slice_edge_fn *fn, void *arg,
                        struct err *err)
{
    struct pass p = {.s = s,
                     .slice = slice,
                     .o = o,
                     .edges = o->edges ? o->edges : SLICE_ALL,
                     .edge = fn,
                     .arg = arg,
                     .want = ends->to,
                     .wants = ends->tos,
                     .from = ends->from,
                     .froms = ends->froms};
    return run(&p, true, err);
}

int slice_nodes(struct slicer *s, const struct slice *slice, slice_node_fn *fn, void *arg,
                struct err *err)
{
    static const struct slice_options none = {.keep_saves = true};
    struct pass p = {.s = s, .slice = slice, .o = &none, .node = fn, .arg = arg};
    return run(&p, false, err);
}
