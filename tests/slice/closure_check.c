/* closure_check.c - a slice executed: does it compute what it computed in the run?
 *
 * SPDX-License-Identifier: MIT
 *
 * The original values go along (closure_page.ref, check.ref). Of each location it is known who
 * defined it: nobody yet, the slice, or an instruction outside of it. What docs/slicing.md leaves
 * out is given for the one instruction that needs it: the stack pointer, rbp where it is a frame
 * pointer, addresses in slices without them, memory that is read-only at the end, return addresses
 * that nobody changed, and the fields that def/use sets do not track.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/slice/closure.h"

enum { GIVEN_MOST = 16 };

struct machine_state {
    struct flat now, ref;
    uint8_t state[LOC_COUNT];
    uint64_t by[LOC_COUNT]; /* who defined it last, plus one */
    bool framed;            /* rbp was made a frame pointer, which defines nothing */
};

struct stash { /* a register, before it was saved */
    uint64_t serial;
    gaddr addr;
    uint8_t value[8], state[8];
    uint64_t by[8];
    bool framed;
};

struct lent { /* memory that is given for one instruction, and taken back */
    gaddr addr;
    uint64_t bytes;
    uint8_t *kept;
};

struct written { /* by system calls: for pages that are not there yet */
    gaddr addr;
    uint64_t bytes, by;
    uint8_t state;
};

struct check {
    struct slicer *s;
    const struct closure_record *r;
    const struct closure_question *q;
    unsigned edges;
    struct control *control;
    struct machine_state *thread;
    struct stash *stash;
    size_t stashes, stash_room;
    struct state *kept;
    struct written *written;
    size_t writtens, events;
    struct lent lent[GIVEN_MOST];
    size_t lents;
    struct flat run; /* what is executed on */
    uint8_t *source; /* states of what a repeated copy reads */
    bool failed;
};

/* ---- what is wrong ---- */

static void fail(struct check *c, const struct forward_at *n, const char *where, uint64_t by,
                 unsigned have, unsigned want)
{
    c->failed = true;
    if (c->q->quiet)
        return;
    if (n) {
        printf("node %llu T%u 0x%llx %s [", (unsigned long long)n->insn, n->thread,
               (unsigned long long)n->in->pc, insn_name(n->in));
        for (unsigned i = 0; i < n->in->len; i++)
            printf("%s%02x", i ? " " : "", n->in->bytes[i]);
        printf("]: ");
    } else
        printf("the criterion: ");
    printf("%s: %02x, %02x in the run", where, have, want);
    if (by)
        printf("; last defined by node %llu, %s the slice", (unsigned long long)by - 1,
               slice_has(c->q->slice, by - 1) ? "in" : "not in");
    printf("\n");
}

static void fail_loc(struct check *c, const struct forward_at *n, const char *how,
                     const struct machine_state *m, unsigned loc)
{
    char name[40], text[80];
    loc_name((struct loc_span){.first = loc, .count = 1}, name, sizeof name);
    snprintf(text, sizeof text, "%s %s", how, name);
    fail(c, n, text, m->by[loc], m->now.v[loc], m->ref.v[loc]);
}

static void fail_byte(struct check *c, const struct forward_at *n, const char *how, gaddr addr)
{
    const struct closure_page *p = closure_page(addr);
    char text[80];
    snprintf(text, sizeof text, "%s memory 0x%llx", how, (unsigned long long)addr);
    fail(c, n, text, p->by[addr % CLOSURE_PAGE], *(uint8_t *)addr, p->ref[addr % CLOSURE_PAGE]);
}

/* ---- patterns ---- */

/* Neither is an instruction that goes on. */
static uint8_t pattern_byte(const struct check *c)
{
    return c->q->pattern ? 0x06 : 0xcc;
}

static void pattern_loc(const struct check *c, struct flat *to, unsigned loc)
{
    static const uint8_t most[LOC_COUNT - LOC_X87_TAG] = {
        [LOC_X87_CONTROL - LOC_X87_TAG] = 0x1f,
        [LOC_X87_STATUS - LOC_X87_TAG] = 0x7f,
        [LOC_MXCSR_CONTROL - LOC_X87_TAG] = 0xf,
        [LOC_MXCSR_STATUS - LOC_X87_TAG] = 0x3f,
    };
    if (loc < LOC_X87_TAG)
        to->v[loc] = c->q->pattern ? 0x5a : 0xa5;
    else if (c->q->pattern)
        to->v[loc] = most[loc - LOC_X87_TAG] ? most[loc - LOC_X87_TAG] : 1;
    else
        to->v[loc] = 0;
    if (loc == LOC_X87_TOP)
        to->v[loc] = 0;
    if (loc == LOC_FS_BASE)
        to->fsbase = c->q->pattern ? 0x13000 : 0x11000;
}

/* ---- who defined what ---- */

static void mark_loc(struct check *c, uint32_t thread, unsigned loc, uint8_t state, uint64_t by)
{
    struct machine_state *m = &c->thread[thread];
    m->state[loc] = state;
    m->by[loc] = by;
    if (state == CLOSURE_FOREIGN)
        pattern_loc(c, &m->now, loc);
}

static void mark_byte(struct check *c, gaddr addr, uint8_t state, uint64_t by)
{
    struct closure_page *p = closure_page(addr);
    if (!p)
        return;
    p->state[addr % CLOSURE_PAGE] = state;
    p->by[addr % CLOSURE_PAGE] = by;
    if (state == CLOSURE_FOREIGN)
        *(uint8_t *)addr = pattern_byte(c);
}

static uint8_t *ref_byte(gaddr addr)
{
    return &closure_page(addr)->ref[addr % CLOSURE_PAGE];
}

static uint8_t state_of(const struct check *c, gaddr addr)
{
    const struct closure_page *p = closure_page(addr);
    if (p)
        return p->state[addr % CLOSURE_PAGE];
    for (size_t i = c->writtens; i-- > 0;)
        if (addr - c->written[i].addr < c->written[i].bytes)
            return c->written[i].state;
    return CLOSURE_UNTOUCHED;
}

/* A system call's range: what is there already, and what will be. `from`: moved from there. */
static void mark_range(struct check *c, gaddr addr, uint64_t bytes, uint8_t state, uint64_t by,
                       gaddr from)
{
    c->written = realloc(c->written, sizeof *c->written * (c->writtens + 1));
    if (!c->written)
        abort();
    c->written[c->writtens++] = (struct written){addr, bytes, by, state};
    for (gaddr a = addr; a < addr + bytes;) {
        if (!closure_page(a)) {
            a = PAGE_DOWN(a) + CLOSURE_PAGE;
            continue;
        }
        uint8_t now = from && state_of(c, from + (a - addr)) == CLOSURE_FOREIGN ? CLOSURE_FOREIGN
                                                                               : state;
        if (now == CLOSURE_OWN)
            *(uint8_t *)a = *ref_byte(a);
        mark_byte(c, a++, now, by);
    }
}

/* ---- the original values ---- */

static void new_page(struct check *c, gaddr addr, const uint8_t *bytes)
{
    struct closure_page *p = closure_page(addr);
    memcpy(p->ref, bytes, CLOSURE_PAGE);
    memset(p->state, CLOSURE_UNTOUCHED, CLOSURE_PAGE);
    memset(p->by, 0, sizeof p->by);
    memset((void *)addr, pattern_byte(c), CLOSURE_PAGE);
    for (size_t i = 0; i < c->writtens; i++) {
        const struct written *w = &c->written[i];
        gaddr from = w->addr > addr ? w->addr : addr, to = w->addr + w->bytes;
        for (; from < to && from < addr + CLOSURE_PAGE; from++) {
            if (w->state == CLOSURE_OWN)
                *(uint8_t *)from = *ref_byte(from);
            mark_byte(c, from, w->state, w->by);
        }
    }
}

static const struct closure_entry *entries(const struct check *c, uint64_t node)
{
    return (const struct closure_entry *)(c->r->log + c->r->at[node]);
}

static void make_pages(struct check *c, uint64_t node)
{
    for (const struct closure_entry *e = entries(c, node); e->kind; e = closure_next(e))
        if (e->kind == CLOSURE_NEW_PAGE)
            new_page(c, e->addr, e->bytes);
}

static bool defines(const struct defuse *du, unsigned loc)
{
    for (unsigned k = 0; du && k < du->defs; k++)
        if (loc - du->def[k].first < du->def[k].count)
            return true;
    return false;
}

static bool changes_rbp(const struct closure_entry *e)
{
    return e->addr < loc_gpr(RBP) + 8 && e->addr + e->count > loc_gpr(RBP);
}

/* After the node; returns where a transfer went. */
static gaddr go_on(struct check *c, const struct forward_at *n)
{
    struct flat *ref = &c->thread[n->thread].ref;
    gaddr next = 0;
    for (const struct closure_entry *e = entries(c, n->insn); e->kind; e = closure_next(e)) {
        if (e->kind == CLOSURE_REGISTER) {
            memcpy(ref->v + e->addr, e->bytes, e->count);
            if (changes_rbp(e))
                c->thread[n->thread].framed = true;
        }
        if (e->kind == CLOSURE_FS_BASE)
            ref->fsbase = e->addr;
        else if (e->kind == CLOSURE_NEXT)
            next = e->addr;
        else if (e->kind == CLOSURE_MEMORY || e->kind == CLOSURE_GIVEN)
            for (uint32_t i = 0; i < e->count; i++) {
                *ref_byte(e->addr + i) = e->bytes[i];
                if (e->kind == CLOSURE_GIVEN)
                    mark_byte(c, e->addr + i, CLOSURE_UNTOUCHED, 0);
            }
    }
    if (defines(n->du, loc_gpr(RBP)))
        c->thread[n->thread].framed = false;
    return next;
}

/* ---- uses ---- */

static bool left_out(const struct check *c, unsigned loc, bool frame)
{
    if (loc == LOC_MXCSR_STATUS || loc == LOC_X87_STATUS)
        return true;
    if (c->q->options->stack_pointer)
        return false;
    return loc - loc_gpr(RSP) < 8 || (frame && loc - loc_gpr(RBP) < 8) || loc == LOC_X87_TOP ||
           loc - LOC_X87_TAG < 8;
}

static void need_loc(struct check *c, const struct forward_at *n, uint32_t thread, unsigned loc)
{
    struct machine_state *m = &c->thread[thread];
    if (m->state[loc] == CLOSURE_UNTOUCHED)
        closure_copy_loc(&m->now, &m->ref, loc);
    bool framed = m->framed && loc - loc_gpr(RBP) < 8;
    closure_copy_loc(&c->run, framed ? &m->ref : &m->now, loc);
    if (m->state[loc] == CLOSURE_FOREIGN || c->run.v[loc] != m->ref.v[loc])
        fail_loc(c, n, "uses", m, loc);
}

static void need_memory(struct check *c, const struct forward_at *n, gaddr addr, uint64_t bytes)
{
    for (gaddr a = addr; a < addr + bytes && !c->failed; a++) {
        if (!closure_page(a)) { /* of a system call: nobody else was ever there */
            a = PAGE_DOWN(a) + CLOSURE_PAGE - 1;
            continue;
        }
        if (state_of(c, a) == CLOSURE_UNTOUCHED)
            *(uint8_t *)a = *ref_byte(a);
        if (state_of(c, a) == CLOSURE_FOREIGN || *(uint8_t *)a != *ref_byte(a))
            fail_byte(c, n, "uses", a);
    }
}

/* Keeps what is there; the original values, if they are given. */
static void lend(struct check *c, gaddr addr, uint64_t bytes, bool give)
{
    struct lent *l = &c->lent[c->lents++];
    if (c->lents > GIVEN_MOST)
        abort();
    *l = (struct lent){addr, bytes, malloc(bytes + 1)};
    if (!l->kept)
        abort();
    memcpy(l->kept, (const void *)addr, bytes);
    for (uint64_t i = 0; give && i < bytes; i++)
        ((uint8_t *)addr)[i] = *ref_byte(addr + i);
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
        if (state_of(c, a) == CLOSURE_UNTOUCHED)
            *(uint8_t *)a = *ref_byte(a);
}

static void prepare_registers(struct check *c, const struct forward_at *n, bool frame)
{
    struct machine_state *m = &c->thread[n->thread];
    c->run = m->now;
    for (unsigned i = 0; i < LOC_COUNT; i++)
        if ((i < LOC_VEC || i >= LOC_X87_TAG) && left_out(c, i, frame))
            closure_copy_loc(&c->run, &m->ref, i);
    for (unsigned k = 0; k < n->du->uses && !c->failed; k++)
        for (unsigned i = 0; i < n->du->use[k].count && !c->failed; i++) {
            unsigned loc = n->du->use[k].first + i, kind = n->du->use[k].kind;
            if (left_out(c, loc, frame))
                continue;
            if (kind == DEFUSE_VALUE || (kind == DEFUSE_ADDRESS && (c->edges & SLICE_ADDRESS)))
                need_loc(c, n, n->thread, loc);
            else if (kind == DEFUSE_ADDRESS || m->state[loc] == CLOSURE_UNTOUCHED ||
                     (m->framed && loc - loc_gpr(RBP) < 8))
                closure_copy_loc(&c->run, &m->ref, loc);
        }
}

static void prepare_access(struct check *c, const struct forward_at *n, unsigned k)
{
    const struct defuse_access *a = &n->du->access[k];
    bool writes = n->b->access[n->b->insn[n->i].access_at + k].mem.write;
    gaddr addr, to, from;
    uint64_t bytes;
    if (!forward_extent(n, k, &addr, &bytes))
        return;
    if (forward_copies(n, &to, &from, &bytes))
        offer_memory(c, from, bytes);
    else if (a->at.read && (n->intact || (!c->q->options->relocated &&
                                          slicer_read_only(c->s, addr, bytes))))
        lend(c, addr, bytes, true);
    else if (a->at.read)
        need_memory(c, n, addr, bytes);
    else if (a->may)
        offer_memory(c, addr, bytes);
    if (writes && !a->at.write) /* by the policy it does not */
        lend(c, addr, bytes, false);
}

static void prepare_ranges(struct check *c, const struct forward_at *n, const struct flow_range *r,
                           const struct flow_note *note)
{
    const struct flow_range *end = forward_ranges_end(note);
    for (; r + 1 <= end && !c->failed; r++)
        if (r->how == FLOW_READ && !(r + 2 <= end && r[1].how == FLOW_MOVE))
            need_memory(c, n, r->addr, r->bytes);
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
                mark_loc(c, n->thread, loc, CLOSURE_FOREIGN, n->insn + 1);
                continue;
            }
            closure_copy_loc(&m->now, &c->run, loc);
            mark_loc(c, n->thread, loc, CLOSURE_OWN, n->insn + 1);
            if (m->now.v[loc] != m->ref.v[loc] && !left_out(c, loc, frame) && !c->failed)
                fail_loc(c, n, "computes", m, loc);
        }
}

static void define_bytes(struct check *c, const struct forward_at *n, gaddr addr, uint64_t bytes,
                         bool mine, bool may)
{
    bool copy = mine && c->source;
    for (uint64_t i = 0; i < bytes; i++) {
        gaddr a = addr + i;
        bool foreign = !mine || (may && state_of(c, a) == CLOSURE_FOREIGN) ||
                       (copy && c->source[i] == CLOSURE_FOREIGN);
        mark_byte(c, a, foreign ? CLOSURE_FOREIGN : CLOSURE_OWN, n->insn + 1);
        if (!foreign && *(uint8_t *)a != *ref_byte(a) && !c->failed)
            fail_byte(c, n, "computes", a);
    }
}

static void define_call(struct check *c, const struct forward_at *n, bool mine)
{
    const struct flow_range *r = n->call->range, *end = forward_ranges_end(&n->call->note);
    for (; r + 1 <= end; r++)
        if (r->how != FLOW_READ)
            mark_range(c, r->addr, r->bytes, mine ? CLOSURE_OWN : CLOSURE_FOREIGN, n->insn + 1,
                       mine && r->how == FLOW_MOVE && r > n->call->range ? r[-1].addr : 0);
}

static void define(struct check *c, const struct forward_at *n, bool mine, bool frame)
{
    gaddr addr;
    uint64_t bytes;
    bool external = closure_is_external(n->in) || closure_is_tangled(n);
    define_registers(c, n, mine, frame);
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write && forward_extent(n, k, &addr, &bytes)) {
            if (external)
                mark_range(c, addr, bytes, mine ? CLOSURE_OWN : CLOSURE_FOREIGN, n->insn + 1, 0);
            else
                define_bytes(c, n, addr, bytes, mine, n->du->access[k].may);
        }
    if (n->odd)
        for (const struct flow_range *r = n->odd->range;
             r + 1 <= forward_ranges_end(&n->odd->note); r++)
            if (r->how != FLOW_READ)
                define_bytes(c, n, r->addr, r->bytes, mine, false);
    if (n->call)
        define_call(c, n, mine);
}

/* ---- nodes ---- */

static void keep_source(struct check *c, const struct forward_at *n)
{
    gaddr to, from;
    uint64_t bytes;
    if (!forward_copies(n, &to, &from, &bytes) || !bytes)
        return;
    c->source = malloc(bytes);
    for (uint64_t i = 0; c->source && i < bytes; i++)
        c->source[i] = state_of(c, from + i);
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

static void do_node(struct check *c, const struct forward_at *n, bool frame, bool pair)
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
    if (!c->failed && !external &&
        closure_execute(n->in, &c->run, through_of(n), &next, &fault))
        fail(c, n, "raises a signal", 0, (unsigned)fault.signo, 0);
    give_back(c);
    gaddr want = go_on(c, n);
    if (external)
        c->run = c->thread[n->thread].ref;
    if (!external && n->in->kind != INSN_PLAIN && next != want && !c->failed)
        fail(c, n, "goes elsewhere", 0, (unsigned)next, (unsigned)want);
    if (!c->failed && !pair)
        define(c, n, true, frame);
    free(c->source);
    c->source = NULL;
}

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
            need_memory(c, NULL, w->addr, w->bytes);
        for (unsigned k = 0; w->kind == SLICE_REGISTER && k < w->bytes && !c->failed; k++)
            if (w->addr + k < LOC_COUNT && !left_out(c, (unsigned)w->addr + k, true))
                need_loc(c, NULL, w->thread, (unsigned)w->addr + k);
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

/* Nothing that it defines is ever looked at: the stack pointer and its like. */
static bool is_left_out(const struct check *c, const struct forward_at *n)
{
    for (unsigned k = 0; k < n->du->accesses; k++)
        if (n->du->access[k].at.write)
            return false;
    for (unsigned k = 0; k < n->du->defs; k++)
        for (unsigned i = 0; i < n->du->def[k].count; i++)
            if (!left_out(c, n->du->def[k].first + i, true))
                return false;
    return !n->call && !n->odd;
}

/* Memory that is written and by the policy is not: whoever reads it is given it. */
static void give_writes(struct check *c, const struct forward_at *n)
{
    gaddr addr;
    uint64_t bytes;
    for (const struct closure_entry *e = entries(c, n->insn); !n->du && e->kind;
         e = closure_next(e))
        for (uint32_t i = 0; e->kind == CLOSURE_MEMORY && i < e->count; i++)
            mark_byte(c, e->addr + i, CLOSURE_UNTOUCHED, 0);
    for (unsigned k = 0; n->du && k < n->du->accesses; k++)
        if (n->b->access[n->b->insn[n->i].access_at + k].mem.write &&
            !n->du->access[k].at.write && forward_extent(n, k, &addr, &bytes))
            for (uint64_t i = 0; i < bytes; i++)
                mark_byte(c, addr + i, CLOSURE_UNTOUCHED, 0);
}

static int do_insn(void *arg, const struct forward_at *n, struct err *err)
{
    struct check *c = arg;
    bool mine = slice_has(c->q->slice, n->insn) && n->insn != c->q->without, frame = false;
    check_wants(c, n->insn);
    make_pages(c, n->insn);
    if (c->failed)
        return 1;
    if (!control_function(c->control, n->frame->entry, &frame, err))
        return -1;
    if (!n->du) {
        if (n->frame->resolver && state_is(n->in))
            through_state(c, n);
        go_on(c, n);
        give_writes(c, n);
        return 0;
    }
    if (n->insn == c->q->without && c->q->idle)
        *c->q->idle = is_left_out(c, n);
    if (n->saves >= 0)
        keep_register(c, n);
    if (mine) {
        bool pair = n->restores >= 0;
        do_node(c, n, frame, pair);
        if (pair)
            bring_back(c, n);
    } else {
        go_on(c, n);
        if (!bring_back(c, n))
            define(c, n, false, frame);
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
        mark_loc(c, thread, i, CLOSURE_OWN, 0);
    }
}

static void store_loc(struct check *c, uint32_t thread, gaddr addr, unsigned loc, unsigned count)
{
    struct machine_state *m = &c->thread[thread];
    for (unsigned i = 0; i < count; i++) {
        bool foreign = m->state[loc + i] == CLOSURE_FOREIGN;
        if (!foreign && m->state[loc + i] == CLOSURE_OWN)
            *(uint8_t *)(addr + i) = m->now.v[loc + i];
        mark_byte(c, addr + i, foreign ? CLOSURE_FOREIGN : CLOSURE_OWN, m->by[loc + i]);
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
        mark_loc(c, thread, loc + i, untouched ? CLOSURE_OWN : p->state[at], p->by[at]);
    }
}

enum { XMM_AT = 160, YMM_AT = 576, FLAGS = LOC_DF - LOC_CF + 1 };

static void signalled(void *arg, uint32_t thread, const struct flow_signal *s)
{
    static const uint8_t set[] = {RDI, RSI, RDX, RAX};
    struct check *c = arg;
    struct machine_state *m = &c->thread[thread];
    const struct closure_event *e = &c->r->event[c->events++];
    bool foreign = false;
    for (size_t i = 0; i < e->bytes; i++) {
        *ref_byte(e->frame + i) = *(uint8_t *)(e->frame + i) = e->memory[i];
        mark_byte(c, e->frame + i, CLOSURE_OWN, 0);
    }
    for (size_t i = 0; i < sizeof forward_context; i++)
        store_loc(c, thread, s->frame + FORWARD_CONTEXT + 8 * i, loc_gpr(forward_context[i]), 8);
    for (unsigned i = 0; s->fpstate && i < 16; i++) {
        store_loc(c, thread, s->fpstate + XMM_AT + 16 * i, loc_vec(i), 16);
        store_loc(c, thread, s->fpstate + YMM_AT + 16 * i, loc_vec(i) + 16, 16);
    }
    for (unsigned i = 0; i < FLAGS; i++)
        foreign |= m->state[LOC_CF + i] == CLOSURE_FOREIGN;
    for (unsigned i = 0; foreign && i < 4; i++)
        mark_byte(c, s->frame + FORWARD_CONTEXT_FLAGS + i, CLOSURE_FOREIGN, 0);
    m->ref = e->after;
    for (size_t i = 0; i < sizeof set; i++)
        give_registers(c, thread, loc_gpr(set[i]), 8);
    give_registers(c, thread, LOC_VEC, LOC_CF - LOC_VEC);
    give_registers(c, thread, LOC_DF, 1);
    give_registers(c, thread, LOC_C0, LOC_MXCSR_STATUS - LOC_C0 + 1);
}

static void returned(void *arg, uint32_t thread, const struct flow_call *call, gaddr fpstate)
{
    struct check *c = arg;
    const struct closure_event *e = &c->r->event[c->events++];
    bool foreign = false;
    c->thread[thread].ref = e->after;
    give_registers(c, thread, LOC_VEC, LOC_COUNT - LOC_VEC);
    for (size_t i = 0; i < sizeof forward_context; i++)
        load_loc(c, thread, call->frame + FORWARD_CONTEXT + 8 * i, loc_gpr(forward_context[i]), 8);
    for (unsigned i = 0; fpstate && i < 16; i++) {
        load_loc(c, thread, fpstate + XMM_AT + 16 * i, loc_vec(i), 16);
        load_loc(c, thread, fpstate + YMM_AT + 16 * i, loc_vec(i) + 16, 16);
    }
    for (unsigned i = 0; i < 4; i++)
        foreign |= state_of(c, call->frame + FORWARD_CONTEXT_FLAGS + i) == CLOSURE_FOREIGN;
    for (unsigned i = 0; foreign && i < FLAGS; i++)
        mark_loc(c, thread, LOC_CF + i, CLOSURE_FOREIGN, 0);
}

static void begun(void *arg, uint32_t thread, uint32_t child, uint64_t call)
{
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
        mark_loc(c, child, i, mine || call == UINT64_MAX ? CLOSURE_OWN : CLOSURE_FOREIGN, call + 1);
    }
}

/* ---- all of it ---- */

int closure_check(struct slicer *s, const struct closure_record *r,
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
            pattern_loc(&c, &c.thread[t].now, i);
    }
    int end = forward_pass(s, q->options, &v, err);
    if (!end) {
        check_wants(&c, r->nodes);
        end = c.failed;
    }
    give_back(&c);
    control_free(c.control);
    free(c.thread);
    free(c.stash);
    state_free(c.kept);
    free(c.written);
    return end;
}
