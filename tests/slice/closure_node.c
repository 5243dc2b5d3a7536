/* closure_node.c - one instruction of a slice, executed.
 *
 * SPDX-License-Identifier: MIT
 *
 * What docs/slicing.md leaves out is given for the one instruction that needs it: the stack
 * pointer, rbp where it is a frame pointer, addresses in slices without them, memory that is
 * read-only at the end, return addresses that nobody changed, and the fields that def/use sets do
 * not track.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/slice/closure_int.h"

/* ---- uses ---- */

bool closure_left_out(const struct check *c, unsigned loc, bool frame)
{
    if (loc == LOC_MXCSR_STATUS || loc == LOC_X87_STATUS)
        return true;
    if (c->q->options->stack_pointer)
        return false;
    return loc - loc_gpr(RSP) < 8 || (frame && loc - loc_gpr(RBP) < 8) || loc == LOC_X87_TOP ||
           loc - LOC_X87_TAG < 8;
}

void closure_need_loc(struct check *c, const struct forward_at *n, uint32_t thread, unsigned loc)
{
    struct machine_state *m = &c->thread[thread];
    if (m->state[loc] == CLOSURE_UNTOUCHED)
        closure_copy_loc(&m->now, &m->ref, loc);
    bool framed = m->framed && loc - loc_gpr(RBP) < 8;
    closure_copy_loc(&c->run, framed ? &m->ref : &m->now, loc);
    if (m->state[loc] == CLOSURE_FOREIGN || c->run.v[loc] != m->ref.v[loc])
        closure_fail_loc(c, n, "uses", m, loc);
}

void closure_need_memory(struct check *c, const struct forward_at *n, gaddr addr, uint64_t bytes)
{
    for (gaddr a = addr; a < addr + bytes && !c->failed; a++) {
        if (!closure_page(a)) { /* of a system call: nobody else was ever there */
            a = PAGE_DOWN(a) + CLOSURE_PAGE - 1;
            continue;
        }
        if (closure_state_of(c, a) == CLOSURE_UNTOUCHED)
            *(uint8_t *)a = *closure_ref(a);
        if (closure_state_of(c, a) == CLOSURE_FOREIGN || *(uint8_t *)a != *closure_ref(a))
            closure_fail_byte(c, n, "uses", a);
    }
}

static void give(gaddr addr, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        ((uint8_t *)addr)[i] = *closure_ref(addr + i);
}

/* Keeps what is there; the original values, if they are given. */
static void lend(struct check *c, gaddr addr, uint64_t bytes, bool given)
{
    struct lent *l = &c->lent[c->lents++];
    if (c->lents > GIVEN_MOST)
        abort();
    *l = (struct lent){addr, bytes, malloc(bytes + 1)};
    if (!l->kept)
        abort();
    memcpy(l->kept, (const void *)addr, bytes);
    if (given)
        give(addr, bytes);
}

static void give_back(struct check *c)
{
    while (c->lents) {
        struct lent *l = &c->lent[--c->lents];
        memcpy((void *)l->addr, l->kept, l->bytes);
        free(l->kept);
    }
}

/* Bytes that may stay, or are copied: as they are, or as they were when nobody has touched them. */
static void offer_memory(struct check *c, gaddr addr, uint64_t bytes)
{
    for (gaddr a = addr; a < addr + bytes; a++)
        if (closure_state_of(c, a) == CLOSURE_UNTOUCHED)
            *(uint8_t *)a = *closure_ref(a);
}

static void prepare_registers(struct check *c, const struct forward_at *n, bool frame)
{
    struct machine_state *m = &c->thread[n->thread];
    c->run = m->now;
    for (unsigned i = 0; i < LOC_COUNT; i++)
        if ((i < LOC_VEC || i >= LOC_X87_TAG) && closure_left_out(c, i, frame))
            closure_copy_loc(&c->run, &m->ref, i);
    for (unsigned k = 0; k < n->du->uses && !c->failed; k++)
        for (unsigned i = 0; i < n->du->use[k].count && !c->failed; i++) {
            unsigned loc = n->du->use[k].first + i, kind = n->du->use[k].kind;
            if (closure_left_out(c, loc, frame))
                continue;
            if (kind == DEFUSE_VALUE || (kind == DEFUSE_ADDRESS && (c->edges & SLICE_ADDRESS)))
                closure_need_loc(c, n, n->thread, loc);
            else if (kind == DEFUSE_ADDRESS || m->state[loc] == CLOSURE_UNTOUCHED ||
                     (m->framed && loc - loc_gpr(RBP) < 8))
                closure_copy_loc(&c->run, &m->ref, loc);
        }
}

static void prepare_access(struct check *c, const struct forward_at *n, unsigned k)
{
    const struct defuse_access *a = &n->du->access[k];
    bool writes = n->b->access[n->b->insn[n->i].access_at + k].mem.write;
    gaddr addr;
    uint64_t bytes;
    struct copied copy;
    if (!forward_extent(n, k, &addr, &bytes))
        return;
    if (forward_copies(n, &copy))
        offer_memory(c, copy.from, copy.bytes);
    else if (a->at.read && (n->intact || (!c->q->options->relocated &&
                                          trace_index_read_only(c->s, addr, bytes)))) {
        if (a->at.write) /* what it leaves there is its own */
            give(addr, bytes);
        else
            lend(c, addr, bytes, true);
    } else if (a->at.read)
        closure_need_memory(c, n, addr, bytes);
    else if (a->may)
        offer_memory(c, addr, bytes);
    if (writes && !a->at.write) /* by the policy it does not */
        lend(c, addr, bytes, false);
}

static void prepare_ranges(struct check *c, const struct forward_at *n, const struct flow_range *r,
                           const struct flow_note *note)
{
    const struct flow_range *end = closure_ranges_end(note);
    for (; r + 1 <= end && !c->failed; r++)
        if (r->how == FLOW_READ && !(r + 2 <= end && r[1].how == FLOW_MOVE))
            closure_need_memory(c, n, r->addr, r->bytes);
}

/* ---- definitions ---- */

static bool is_kept(const struct defuse *du, unsigned loc)
{
    for (unsigned k = du->uses; k-- > 0 && du->use[k].kind == DEFUSE_KEPT;)
        if (loc - du->use[k].first < du->use[k].count)
            return true;
    return false;
}

static void define_registers(struct check *c, const struct forward_at *n, bool mine, bool frame)
{
    struct machine_state *m = &c->thread[n->thread];
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++) {
            unsigned loc = n->du->def[k].first + i;
            if (!mine || (m->state[loc] == CLOSURE_FOREIGN && is_kept(n->du, loc))) {
                closure_mark_loc(c, n->thread, loc, CLOSURE_FOREIGN, n->insn + 1);
                continue;
            }
            closure_copy_loc(&m->now, &c->run, loc);
            closure_mark_loc(c, n->thread, loc, CLOSURE_OWN, n->insn + 1);
            if (m->now.v[loc] != m->ref.v[loc] && !closure_left_out(c, loc, frame) && !c->failed)
                closure_fail_loc(c, n, "computes", m, loc);
        }
}

static void define_bytes(struct check *c, const struct forward_at *n, gaddr addr, uint64_t bytes,
                         bool mine, bool may)
{
    bool copy = mine && c->source;
    for (uint64_t i = 0; i < bytes; i++) {
        gaddr a = addr + i;
        bool foreign = !mine || (may && closure_state_of(c, a) == CLOSURE_FOREIGN) ||
                       (copy && c->source[i] == CLOSURE_FOREIGN);
        closure_mark_byte(c, a, foreign ? CLOSURE_FOREIGN : CLOSURE_OWN, n->insn + 1);
        if (!foreign && *(uint8_t *)a != *closure_ref(a) && !c->failed)
            closure_fail_byte(c, n, "computes", a);
    }
}

static void define_call(struct check *c, const struct forward_at *n, bool mine)
{
    const struct flow_range *r = n->call->range, *end = closure_ranges_end(&n->call->note);
    for (; r + 1 <= end; r++)
        if (r->how != FLOW_READ)
            closure_mark_range(c, r->addr, r->bytes, mine ? CLOSURE_OWN : CLOSURE_FOREIGN,
                               n->insn + 1,
                               mine && r->how == FLOW_MOVE && r > n->call->range ? r[-1].addr : 0);
}

void closure_define(struct check *c, const struct forward_at *n, bool mine, bool frame)
{
    gaddr addr;
    uint64_t bytes;
    bool external = closure_is_external(n->in) || closure_is_tangled(n);
    define_registers(c, n, mine, frame);
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write && forward_extent(n, k, &addr, &bytes)) {
            if (external)
                closure_mark_range(c, addr, bytes, mine ? CLOSURE_OWN : CLOSURE_FOREIGN,
                                   n->insn + 1, 0);
            else
                define_bytes(c, n, addr, bytes, mine, n->du->access[k].may);
        }
    if (n->odd)
        for (const struct flow_range *r = n->odd->range; r + 1 <= closure_ranges_end(&n->odd->note);
             r++)
            if (r->how != FLOW_READ)
                define_bytes(c, n, r->addr, r->bytes, mine, false);
    if (n->call)
        define_call(c, n, mine);
}

/* ---- nodes ---- */

static void keep_source(struct check *c, const struct forward_at *n)
{
    struct copied copy;
    if (!forward_copies(n, &copy) || !copy.bytes)
        return;
    c->source = malloc(copy.bytes);
    for (uint64_t i = 0; c->source && i < copy.bytes; i++)
        c->source[i] = closure_state_of(c, copy.from + copied_origin(&copy, i));
}

static gaddr through_of(const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    for (unsigned k = 0; k < n->b->insn[n->i].accesses; k++)
        if (n->b->access[n->b->insn[n->i].access_at + k].mem.read &&
            forward_extent(n, k, &addr, &bytes))
            return addr;
    return 0;
}

void closure_node(struct check *c, const struct forward_at *n, bool frame, bool pair)
{
    struct fault fault;
    gaddr next = 0;
    bool external = closure_is_external(n->in) || closure_is_tangled(n);
    prepare_registers(c, n, frame);
    for (unsigned k = 0; k < n->du->accesses && !c->failed; k++)
        if (!external || n->du->access[k].at.read)
            prepare_access(c, n, k);
    if (n->odd)
        prepare_ranges(c, n, n->odd->range, &n->odd->note);
    if (n->call)
        prepare_ranges(c, n, n->call->range, &n->call->note);
    keep_source(c, n);
    if (!c->failed && !external && closure_execute(n->in, &c->run, through_of(n), &next, &fault))
        closure_fail(c, n, "raises a signal", 0, (unsigned)fault.signo, 0);
    give_back(c);
    gaddr want = closure_go_on(c, n);
    if (external)
        c->run = c->thread[n->thread].ref;
    if (!external && n->in->kind != INSN_PLAIN && next != want && !c->failed)
        closure_fail(c, n, "goes elsewhere", 0, (unsigned)next, (unsigned)want);
    if (!c->failed && !pair)
        closure_define(c, n, true, frame);
    free(c->source);
    c->source = NULL;
}
