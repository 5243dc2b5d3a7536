/* slice_walk.c - a trace walked backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * The state is what is wanted: bytes of memory, locations of each thread, and nodes that wait for
 * what controls them (control.h). A chunk is read, the frames of its steps are found by following
 * it forwards from what the scan knows of its beginning, and then its steps and notes are gone
 * through from the last to the first. docs/slicing.md is the specification; the order of things
 * inside a step follows from it:
 *
 * 1. notes behind a step come before the step;
 * 2. a step's last instruction is first asked whether frames it made, or nodes that wait for the
 *    edge it took, want it;
 * 3. then each instruction from the last to the first: does it define what is wanted?
 *
 * It is long because the inner loop is in one file: what an instruction does to the state is called
 * for every node of billions, and inlined here.
 */
#include <stdlib.h>
#include <string.h>

#include "slicer/prune.h"
#include "slicer/slice_private.h"

enum { GHOSTS = 1024 };

/* Bytes of a register that are wanted before the save of a pair. */
struct ghost {
    uint64_t serial; /* of the frame; 0: free */
    gaddr addr;
    uint8_t reg, mask;
};

/* What an instruction does, if that is little: general registers and flags, as words of a loc_set,
 * and memory; nothing that depends on values, is saved, restored, or may stay as it was. Most are
 * so, and are passed without looking at spans. */
enum { FLAGS_WORD = LOC_CF / 64 };
_Static_assert(LOC_FLAGS_REST / 64 == FLAGS_WORD && LOC_VEC == 128, "flags are in one word");

struct recipe {
    bool simple, writes, accesses;
    uint64_t def[3], use[3]; /* two words of general registers, that of the flags */
    uint64_t cleared, wants; /* groups: of registers that it defines all of; that it uses */
    const struct defuse *du;
};

/* What a block may do, to be told quickly that it does nothing. */
struct summary {
    uint64_t defs;            /* groups of locations */
    bool known, saves, plain; /* plain: its writes are those of its accesses, all of known size */
    uint64_t *insn;           /* of each instruction: groups that it defines */
    uint64_t look;            /* a bit for each: it has to be looked at in any case, ... */
    uint64_t writes;          /* ... or if memory is wanted */
    struct recipe *recipe[2]; /* of each: in functions without and with a frame pointer */
};

_Static_assert(PLAN_INSNS <= 64, "a bit for each instruction");

static void summary_deinit(struct summary *s)
{
    free(s->insn);
    free(s->recipe[0]);
    free(s->recipe[1]);
}

/* What following a chunk forwards told of a step. */
struct place {
    struct frame *frame;
    gaddr next; /* where its thread went on in the same frame; 0: elsewhere */
};

struct walk {
    struct slicer *s;
    struct slice *out;
    const struct slice_options *o;
    unsigned edges;
    struct trace_chunk chunk;
    const struct scan_chunk *scan;
    struct scan_lists lists; /* its lists; counts go down as they are met */
    struct place *place;
    struct control *control;
    struct wanted memory;
    struct loc_set *reg;     /* by thread */
    uint64_t *coarse;        /* by thread: groups of locations with perhaps something wanted */
    struct summary *summary; /* by block */
    gaddr *carry;            /* by thread: where it went on behind the chunk, in the same frame */
    uint32_t threads;
    struct ghost *ghost;
    size_t ghost_room, ghosts, ghosts_waiting;
    struct state *state;            /* wanted before a resolver saved it */
    const struct slice_want **want; /* sorted by `at`, the last first */
    size_t wants;
    struct prune prune;
    bool ok; /* there was memory */
};

/* ---- locations ---- */

/* Groups of locations, a bit each: general and vector registers one by one, flags, and the rest. */
static unsigned group(unsigned loc)
{
    enum { VECTORS = GPR_COUNT, MASKS = VECTORS + LOC_VECS, X87, FLAGS, REST };
    if (loc < LOC_VEC)
        return loc / LOC_GPR_BYTES;
    if (loc < LOC_MASK)
        return VECTORS + (loc - LOC_VEC) / LOC_VEC_BYTES;
    return loc < LOC_X87 ? MASKS : loc < LOC_CF ? X87 : loc <= LOC_FLAGS_REST ? FLAGS : REST;
}

static uint64_t groups(unsigned first, unsigned count)
{
    if (first < LOC_VEC && first % LOC_GPR_BYTES + count <= LOC_GPR_BYTES)
        return 1ull << first / LOC_GPR_BYTES;
    unsigned a = group(first), b = group(first + count - 1);
    return ~0ull >> (63 - b) & ~0ull << a;
}

static void want_loc(struct walk *w, uint32_t thread, unsigned first, unsigned count)
{
    loc_set_add(&w->reg[thread], first, count);
    w->coarse[thread] |= groups(first, count);
}

static bool any_loc(const struct walk *w, uint32_t thread, unsigned first, unsigned count)
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

static int put_node(struct walk *w, const struct frame *f, uint32_t thread, uint32_t insn, gaddr pc,
                    struct err *err)
{
    int new = slice_add(w->out, w->chunk.number, insn, w->chunk.insns);
    if (new < 0)
        return err_set(err, "no memory");
    if (new &&f && (w->edges & SLICE_CONTROL))
        return control_wait(w->control, f, thread, pc, err);
    return 0;
}

/* One executed instruction. */
struct node {
    const struct trace_step *step;
    const struct code_block *b;
    const uint64_t *values;
    const struct frame *frame;
    unsigned i;
    uint32_t thread;
    uint32_t insn;                /* in the chunk */
    const struct flow_call *call; /* of a system call; NULL: none */
    const struct flow_access *odd;
    const struct defuse *du;
    bool uses_memory;
    bool criterion; /* all that it uses is asked for */
    unsigned flags; /* enum defuse_flag */
};

static gaddr extent(const struct node *n, const struct plan_access *a, uint64_t *bytes)
{
    return slicer_extent(n->b, a, n->values, bytes);
}

static const struct plan_access *access_of(const struct node *n, unsigned k)
{
    return &n->b->access[n->b->insn[n->i].access_at + k];
}

static const struct flow_range *ranges_end(const struct flow_note *n)
{
    return (const struct flow_range *)((const uint8_t *)n + n->bytes);
}

static bool defines_memory(struct walk *w, const struct node *n)
{
    uint64_t bytes;
    if (!w->memory.live)
        return false;
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.write || slicer_is_odd(a))
            continue;
        gaddr addr = extent(n, a, &bytes);
        if (bytes && wanted_any(&w->memory, addr, bytes))
            return true;
    }
    if (n->odd)
        for (const struct flow_range *r = n->odd->range; r + 1 <= ranges_end(&n->odd->note); r++)
            if (r->how != FLOW_READ && wanted_any(&w->memory, r->addr, r->bytes))
                return true;
    if (n->call)
        for (const struct flow_range *r = n->call->range; r + 1 <= ranges_end(&n->call->note); r++)
            if (r->how != FLOW_READ && wanted_any(&w->memory, r->addr, r->bytes))
                return true;
    return false;
}

static bool defines_register(const struct walk *w, const struct node *n)
{
    if (!w->coarse[n->thread])
        return false;
    for (unsigned k = 0; k < n->du->defs; k++)
        if (any_loc(w, n->thread, n->du->def[k].first, n->du->def[k].count))
            return true;
    return false;
}

/* No longer wanted; the group's bit goes with its last location, if it is one register's. */
static void forget(struct walk *w, uint32_t thread, unsigned first, unsigned count)
{
    loc_set_remove(&w->reg[thread], first, count);
    if (first < LOC_VEC && count == LOC_GPR_BYTES && first % LOC_GPR_BYTES == 0) {
        w->coarse[thread] &= ~(1ull << first / LOC_GPR_BYTES);
    } else if (first < LOC_VEC) {
        for (unsigned r = first / 8; r <= (first + count - 1) / 8 && r < GPR_COUNT; r++)
            if (!any_loc(w, thread, loc_gpr(r), 8))
                w->coarse[thread] &= ~(1ull << r);
    } else if (first >= LOC_CF && first <= LOC_FLAGS_REST) {
        if (!any_loc(w, thread, LOC_CF, LOC_FLAGS_REST - LOC_CF + 1))
            w->coarse[thread] &= ~(1ull << group(LOC_CF));
    } else if (first < LOC_MASK) {
        unsigned r = (first - LOC_VEC) / LOC_VEC_BYTES;
        if (!any_loc(w, thread, loc_vec(r), LOC_VEC_BYTES))
            w->coarse[thread] &= ~(1ull << group(first));
    }
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
        forget(w, n->thread, n->du->def[k].first, n->du->def[k].count);
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
    if (slicer_copies(n->b, n->i, n->values, &copied)) {
        swap_copied(w, n, &copied);
        return;
    }
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.write || n->du->access[k].may || slicer_is_odd(a))
            continue;
        addr = extent(n, a, &bytes);
        wanted_take(&w->memory, addr, bytes);
    }
    for (unsigned k = 0; k < n->du->accesses; k++) {
        const struct plan_access *a = access_of(n, k);
        if (!n->du->access[k].at.read || slicer_is_odd(a) || !n->uses_memory)
            continue;
        addr = extent(n, a, &bytes);
        if (w->o->relocated || !slicer_read_only(w->s, addr, bytes))
            use_memory(w, n, addr, bytes);
    }
    if (n->odd)
        for (const struct flow_range *r = n->odd->range; r + 1 <= ranges_end(&n->odd->note); r++)
            if (r->how == FLOW_READ)
                use_memory(w, n, r->addr, r->bytes);
}

static void swap_call(struct walk *w, const struct node *n, const struct flow_call *c)
{
    const struct flow_range *end = ranges_end(&c->note);
    for (const struct flow_range *r = c->range; r + 1 <= end; r++) {
        bool moved = r > c->range && r->how == FLOW_MOVE && r[-1].how == FLOW_READ;
        if (moved)
            use_moved(w, n, r->addr, r[-1].addr, r->bytes);
        else if (r->how != FLOW_READ)
            wanted_take(&w->memory, r->addr, r->bytes);
    }
    for (const struct flow_range *r = c->range; r + 1 <= end; r++) {
        bool moves = r + 2 <= end && r[1].how == FLOW_MOVE;
        if (r->how == FLOW_READ && (!moves || n->criterion))
            use_memory(w, n, r->addr, r->bytes);
    }
}

static int take_node(struct walk *w, const struct node *n, struct err *err)
{
    if (put_node(w, n->frame, n->thread, n->insn, n->b->insn[n->i].in.pc, err))
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
    size_t i = ((serial + addr) * 0x9e3779b97f4a7c15ull >> 24) & (w->ghost_room - 1);
    while (w->ghost[i].serial && (w->ghost[i].serial != serial || w->ghost[i].addr != addr))
        i = (i + 1) & (w->ghost_room - 1);
    return &w->ghost[i];
}

static bool grow_ghosts(struct walk *w)
{
    struct ghost *old = w->ghost;
    size_t room = w->ghost_room, live = 0, want = GHOSTS;
    for (size_t i = 0; i < room; i++)
        live += old[i].mask != 0;
    while (want < 4 * live)
        want *= 2;
    struct ghost *list = calloc(want, sizeof *list);
    if (!list)
        return false;
    w->ghost = list;
    w->ghost_room = want;
    w->ghosts = live;
    for (size_t i = 0; i < room; i++)
        if (old[i].mask)
            *find_ghost(w, old[i].serial, old[i].addr) = old[i];
    free(old);
    return true;
}

/* The restore of a pair: what is wanted of the register is wanted before the save. */
static void look_through(struct walk *w, const struct node *n, int reg, gaddr addr)
{
    uint8_t mask = byte_mask(w, n->thread, loc_gpr((unsigned)reg), 8);
    if (!mask)
        return;
    forget(w, n->thread, loc_gpr((unsigned)reg), 8);
    if (2 * w->ghosts >= w->ghost_room)
        w->ok &= grow_ghosts(w);
    struct ghost *g = find_ghost(w, n->frame->serial, addr);
    w->ghosts += !g->serial;
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
    return slicer_returns(n->frame, n->b, n->i, n->values) && !is_changed(w, n->insn);
}

static int do_insn(struct walk *w, struct node *n, bool by_control, struct err *err)
{
    const struct code_insn *ci = &n->b->insn[n->i];
    if (n->frame->resolver && state_is(&ci->in)) {
        through_state(w, n, state_restores(&ci->in));
        return 0;
    }
    n->du = code_defuse(w->s->code, n->b, n->i, n->flags, n->values);
    if (!n->du)
        return err_set(err, "no memory");
    if (n->call)
        n->du = slicer_call_defuse(w->s, n->du, n->call);
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

/* ---- notes ---- */

/* The places of registers in a signal's frame, from its return address on. */
static const uint8_t context_order[] = {R8,  R9,  R10, R11, R12, R13, R14, R15,
                                        RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP};
enum { CONTEXT = 48, CONTEXT_FLAGS = CONTEXT + 17 * 8, XMM_AT = 160, YMM_AT = 576 };

static void clear_handler_registers(struct walk *w, uint32_t thread)
{
    static const uint8_t set[] = {RDI, RSI, RDX, RAX};
    for (size_t i = 0; i < sizeof set; i++)
        loc_set_remove(&w->reg[thread], loc_gpr(set[i]), 8);
    loc_set_remove(&w->reg[thread], LOC_DF, 1);
    loc_set_remove(&w->reg[thread], LOC_VEC, LOC_CF - LOC_VEC); /* x87 and masks, too */
    loc_set_remove(&w->reg[thread], LOC_C0, LOC_MXCSR_STATUS - LOC_C0 + 1);
}

static void want_from_memory(struct walk *w, uint32_t thread, gaddr addr, unsigned loc, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (wanted_take(&w->memory, addr + i, 1))
            want_loc(w, thread, loc + i, 1);
}

/* A delivery: the frame's memory is what the registers were. */
static void do_signal(struct walk *w, uint32_t thread, const struct flow_signal *s)
{
    clear_handler_registers(w, thread);
    for (size_t i = 0; i < sizeof context_order; i++)
        if (context_order[i] != RSP)
            want_from_memory(w, thread, s->frame + CONTEXT + 8 * i, loc_gpr(context_order[i]), 8);
    if (wanted_take(&w->memory, s->frame + CONTEXT_FLAGS, 4))
        want_loc(w, thread, LOC_CF, LOC_DF - LOC_CF + 1);
    for (unsigned i = 0; s->fpstate && i < 16; i++) {
        want_from_memory(w, thread, s->fpstate + XMM_AT + 16 * i, loc_vec(i), 16);
        want_from_memory(w, thread, s->fpstate + YMM_AT + 16 * i, loc_vec(i) + 16, 16);
    }
    wanted_take(&w->memory, s->frame, s->end - s->frame);
}

static void want_memory_for(struct walk *w, uint32_t thread, gaddr addr, unsigned loc, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (loc_set_has(&w->reg[thread], loc + i))
            w->ok &= wanted_add(&w->memory, addr + i, 1);
}

static void do_sigreturn(struct walk *w, uint32_t thread, const struct flow_call *c, uint64_t insn)
{
    gaddr fp = scan_fpstate(&w->s->scan, c->frame, insn);
    for (size_t i = 0; i < sizeof context_order; i++)
        if (context_order[i] != RSP)
            want_memory_for(w, thread, c->frame + CONTEXT + 8 * i, loc_gpr(context_order[i]), 8);
    for (unsigned i = 0; fp && i < 16; i++) {
        want_memory_for(w, thread, fp + XMM_AT + 16 * i, loc_vec(i), 16);
        want_memory_for(w, thread, fp + YMM_AT + 16 * i, loc_vec(i) + 16, 16);
    }
    for (unsigned f = LOC_CF; f <= LOC_DF; f++)
        if (loc_set_has(&w->reg[thread], f))
            w->ok &= wanted_add(&w->memory, c->frame + CONTEXT_FLAGS, 4);
    memset(&w->reg[thread], 0, sizeof w->reg[thread]);
}

/* A thread was made: what it wants at its begin, the maker has. True: the call itself is wanted. */
static bool do_begin(struct walk *w, const struct flow_begin *b)
{
    uint32_t child = trace_thread_find(w->s->trace, b->thread);
    uint32_t parent = trace_thread_find(w->s->trace, b->parent);
    if (trace_thread(w->s->trace, child) != b->thread ||
        trace_thread(w->s->trace, parent) != b->parent)
        return false;
    static const uint8_t made[] = {RAX, RSP, RCX, R11};
    bool call = control_root(w->control, child);
    struct loc_set *set = &w->reg[child];
    for (size_t i = 0; i < sizeof made; i++) {
        call |= any_loc(w, child, loc_gpr(made[i]), 8);
        loc_set_remove(set, loc_gpr(made[i]), 8);
    }
    call |= any_loc(w, child, LOC_FS_BASE, 1);
    loc_set_remove(set, LOC_FS_BASE, 1);
    for (struct loc_span span = loc_set_next(set, 0); span.count;
         span = loc_set_next(set, span.first + span.count))
        want_loc(w, parent, span.first, span.count);
    memset(set, 0, sizeof *set);
    return call;
}

/* ---- wanted from outside ---- */

static void want_more(struct walk *w, uint64_t at)
{
    while (w->wants && w->want[0]->at >= at) {
        const struct slice_want *x = w->want[0];
        if (x->kind == SLICE_USES && x->at == at)
            return; /* when it is met */
        if (x->kind == SLICE_MEMORY)
            w->ok &= wanted_add(&w->memory, x->addr, x->bytes);
        else if (x->kind == SLICE_REGISTER && x->addr < LOC_COUNT && x->thread < w->threads)
            want_loc(w, x->thread, (unsigned)x->addr,
                     (unsigned)(x->bytes < LOC_COUNT - x->addr ? x->bytes : LOC_COUNT - x->addr));
        w->want++;
        w->wants--;
    }
}

static bool is_criterion(struct walk *w, uint64_t at)
{
    bool any = false;
    while (w->wants && w->want[0]->at == at && w->want[0]->kind == SLICE_USES) {
        any = true;
        w->want++;
        w->wants--;
    }
    return any;
}

/* ---- chunks ---- */

/* Frames of all steps of the chunk, forwards. */
static int follow(struct walk *w, struct err *err)
{
    const struct trace_chunk *c = &w->chunk;
    struct frames f;
    uint32_t note = 0, thread = w->scan->thread;
    uint32_t *last = malloc(sizeof *last * (w->threads + 1)); /* step + 1 */
    gaddr *carry = calloc(w->threads + 1, sizeof *carry);
    bool *entered = calloc(w->threads + 1, sizeof *entered);
    if (!last || !carry || !entered || frames_copy(&f, &w->scan->start, err)) {
        free(last);
        free(carry);
        free(entered);
        return err_set(err, "no memory");
    }
    memset(last, 0, sizeof *last * (w->threads + 1));
    for (uint32_t i = 0; i <= c->steps; i++) {
        for (; note < c->notes && c->note[note].step == i; note++) {
            const struct flow_note *n = trace_note(c, note);
            if (n->kind == FLOW_THREAD)
                thread = trace_thread_find(w->s->trace, ((const struct flow_thread *)n)->thread);
            if (n->kind == FLOW_SIGNAL) { /* it went on, and was interrupted there */
                const struct flow_signal *s = (const struct flow_signal *)n;
                struct frame *before = f.thread[thread].top;
                enum frames_effect effect;
                bool pending = f.thread[thread].left;
                struct frame *now = frames_enter(&f, thread, NULL, s->pc, &effect);
                if (pending && now == before && effect == FRAMES_STAYED) {
                    if (last[thread])
                        w->place[last[thread] - 1].next = s->pc;
                    else if (!entered[thread])
                        carry[thread] = s->pc;
                }
                entered[thread] = true;
                last[thread] = 0;
            }
            frames_note(&f, thread, n);
        }
        if (i == c->steps)
            break;
        const struct trace_step *st = &c->step[i];
        const struct code_block *b = code_block(w->s->code, st->block);
        thread = st->thread;
        bool pending = f.thread[thread].left;
        enum frames_effect effect;
        struct frame *now = frames_enter(&f, thread, b, b->pc, &effect);
        if (!now) {
            err_set(err, "no memory");
            break;
        }
        if (pending && effect == FRAMES_STAYED) {
            if (last[thread])
                w->place[last[thread] - 1].next = b->pc;
            else if (!entered[thread])
                carry[thread] = b->pc;
        }
        entered[thread] = true;
        last[thread] = i + 1;
        w->place[i] = (struct place){frame_ref(now), 0};
        frames_leave(&f, st, b, c->value + st->value_at, c->first_insn + st->insn_at);
    }
    /* The last steps of the chunk went on where the next chunk, walked before, says. */
    for (uint32_t t = 0; t < w->threads; t++) {
        if (last[t])
            w->place[last[t] - 1].next = w->carry[t];
        if (entered[t])
            w->carry[t] = carry[t];
    }
    frames_deinit(&f);
    free(last);
    free(carry);
    free(entered);
    return 0;
}

static void summarise(struct walk *w, const struct node *n, struct summary *sum)
{
    static const uint64_t zeros[PLAN_SLOTS];
    sum->insn = calloc(n->b->insns, sizeof *sum->insn);
    w->ok &= sum->insn != NULL;
    sum->known = sum->insn != NULL;
    sum->plain = true;
    for (unsigned i = 0; i < n->b->insns; i++) {
        const struct code_insn *ci = &n->b->insn[i];
        /* as the hardware has it: more than any policy */
        const struct defuse *du = code_defuse(w->s->code, n->b, i, DEFUSE_STACK_POINTER, zeros);
        bool odd = !du || code_varies(n->b, i) || ci->in.kind == INSN_SYSCALL || state_is(&ci->in);
        uint64_t defs = 0;
        for (unsigned k = 0; du && k < du->defs; k++)
            defs |= groups(du->def[k].first, du->def[k].count);
        for (unsigned k = 0; k < ci->accesses; k++) {
            const struct plan_access *a = &n->b->access[ci->access_at + k];
            odd = odd || slicer_is_odd(a);
            sum->writes |= (uint64_t)a->mem.write << i;
        }
        if (odd)
            sum->plain = false;
        sum->look |= (uint64_t)(odd || ci->saves >= 0) << i;
        sum->saves |= ci->saves >= 0;
        sum->defs |= defs;
        if (sum->insn)
            sum->insn[i] = defs;
    }
}

/* False: it is no simple one. */
static bool add_span(uint64_t set[3], const struct loc_span *s)
{
    static const unsigned words[] = {0, 1, FLAGS_WORD};
    for (unsigned i = s->first; i < s->first + s->count; i++) {
        unsigned k = 0;
        while (k < 3 && words[k] != i / 64)
            k++;
        if (k == 3 || (k == 2 && (i < LOC_CF || i > LOC_FLAGS_REST)))
            return false;
        set[k] |= 1ull << i % 64;
    }
    return true;
}

static void write_recipe(struct walk *w, const struct node *n, unsigned i, struct recipe *r)
{
    const struct code_insn *ci = &n->b->insn[i];
    *r = (struct recipe){0};
    if (w->summary[n->b->number].look >> i & 1 || ci->restores >= 0 || ci->in.kind == INSN_RET ||
        w->prune.any)
        return;
    const struct defuse *du = r->du = code_defuse(w->s->code, n->b, i, n->flags, n->values);
    r->simple = du != NULL;
    for (unsigned k = 0; r->simple && k < du->defs; k++) {
        const struct loc_span *d = &du->def[k];
        r->simple = add_span(r->def, d);
        for (unsigned g = d->first; g + LOC_GPR_BYTES <= d->first + d->count; g += LOC_GPR_BYTES)
            if (g < LOC_VEC && g % LOC_GPR_BYTES == 0)
                r->cleared |= 1ull << g / LOC_GPR_BYTES;
    }
    for (unsigned k = 0; r->simple && k < du->uses; k++) {
        const struct loc_span *u = &du->use[k];
        r->simple = u->kind != DEFUSE_KEPT;
        if (!r->simple || (u->kind == DEFUSE_ADDRESS && !(w->edges & SLICE_ADDRESS)))
            continue;
        r->simple = add_span(r->use, u);
        r->wants |= groups(u->first, u->count);
    }
    for (unsigned k = 0; r->simple && k < du->accesses; k++) {
        r->simple = !du->access[k].may;
        r->writes |= du->access[k].at.write;
        r->accesses = true;
    }
}

static const struct recipe *recipes_of(struct walk *w, const struct node *n)
{
    struct recipe **list = &w->summary[n->b->number].recipe[n->flags == DEFUSE_FRAME];
    if (*list || !(*list = malloc(sizeof **list * n->b->insns)))
        return *list;
    for (unsigned i = 0; i < n->b->insns; i++)
        write_recipe(w, n, i, &(*list)[i]);
    return *list;
}

static int do_simple(struct walk *w, struct node *n, const struct recipe *r, bool take,
                     struct err *err)
{
    uint64_t *bits = w->reg[n->thread].bits, *coarse = &w->coarse[n->thread];
    n->du = r->du;
    n->uses_memory = true;
    if (!take && !(bits[0] & r->def[0]) && !(bits[1] & r->def[1]) &&
        !(bits[FLAGS_WORD] & r->def[2]) && !(r->writes && defines_memory(w, n)))
        return 0;
    if (put_node(w, n->frame, n->thread, n->insn, n->b->insn[n->i].in.pc, err))
        return -1;
    bits[0] = (bits[0] & ~r->def[0]) | r->use[0];
    bits[1] = (bits[1] & ~r->def[1]) | r->use[1];
    bits[FLAGS_WORD] = (bits[FLAGS_WORD] & ~r->def[2]) | r->use[2];
    *coarse &= ~r->cleared;
    if (r->def[2] && !any_loc(w, n->thread, LOC_CF, LOC_FLAGS_REST - LOC_CF + 1))
        *coarse &= ~(1ull << group(LOC_CF));
    *coarse |= r->wants;
    if (r->accesses)
        swap_memory(w, n);
    return w->ok ? 0 : err_set(err, "no memory");
}

/* May instruction i do something to what is wanted? */
static bool insn_matters(const struct walk *w, const struct summary *sum, uint32_t thread,
                         unsigned i)
{
    return !sum->known || (sum->insn[i] & w->coarse[thread]) || (sum->look >> i & 1) ||
           (w->memory.live && (sum->writes >> i & 1));
}

/* Could anything in the step matter? */
static bool may_matter(struct walk *w, const struct node *n)
{
    struct summary *sum = &w->summary[n->b->number];
    if (!sum->known)
        summarise(w, n, sum);
    if (!sum->plain || (sum->defs & w->coarse[n->thread]) || (sum->saves && w->ghosts_waiting))
        return true;
    for (unsigned k = 0; w->memory.live && k < n->b->accesses; k++) {
        const struct plan_access *a = &n->b->access[k];
        if (a->mem.write && wanted_any(&w->memory, code_address(a, n->values), a->mem.bytes))
            return true;
    }
    return false;
}

struct attached {
    const struct flow_call *call;
    const struct flow_access *odd[PLAN_INSNS];
    unsigned odds;
    bool wanted; /* the call, by the thread it made */
};

static const struct flow_access *odd_of(const struct attached *x, gaddr pc)
{
    for (unsigned i = 0; i < x->odds; i++)
        if (x->odd[i]->pc == pc)
            return x->odd[i];
    return NULL;
}

static int do_step(struct walk *w, uint32_t at, struct attached *x, struct err *err)
{
    const struct trace_step *s = &w->chunk.step[at];
    const struct code_block *b = code_block(w->s->code, s->block);
    const struct place *p = &w->place[at];
    struct node n = {.step = s,
                     .b = b,
                     .values = w->chunk.value + s->value_at,
                     .frame = p->frame,
                     .thread = s->thread};
    uint64_t number = w->chunk.first_insn + s->insn_at;
    bool whole = s->insns == b->insns && s->insns;
    bool by_control = whole && x->wanted && code_last(b)->kind == INSN_SYSCALL;
    if (whole && (w->edges & SLICE_CONTROL)) {
        by_control |= control_maker(w->control, number + s->insns - 1u);
        by_control |= control_branch(w->control, p->frame, code_last(b)->pc, p->next);
    }
    bool criterion = w->wants && w->want[0]->at >= number;
    if (!by_control && !criterion && !may_matter(w, &n))
        return 0;
    bool frame_pointer = false;
    if (!w->o->stack_pointer && !control_function(w->control, p->frame->entry, &frame_pointer, err))
        return -1;
    n.flags = w->o->stack_pointer ? DEFUSE_STACK_POINTER : frame_pointer ? DEFUSE_FRAME : 0;
    struct summary *sum = &w->summary[b->number];
    if (!sum->known)
        summarise(w, &n, sum);
    const struct recipe *recipe = recipes_of(w, &n);
    if (!recipe)
        return err_set(err, "no memory");
    for (unsigned i = s->insns; i-- > 0;) {
        bool last = i == s->insns - 1u;
        n.i = i;
        n.insn = s->insn_at + i;
        if (number + i < w->o->first)
            return 0;
        want_more(w, number + i + 1);
        n.call = last && whole && b->insn[i].in.kind == INSN_SYSCALL ? x->call : NULL;
        n.odd = odd_of(x, b->insn[i].in.pc);
        n.criterion = is_criterion(w, number + i);
        bool take = n.criterion || (last && by_control);
        if (!take && !insn_matters(w, sum, n.thread, i))
            continue;
        if (n.call && n.call->nr == SLICER_SIGRETURN)
            continue;
        if (recipe[i].simple ? do_simple(w, &n, &recipe[i], take, err) : do_insn(w, &n, take, err))
            return -1;
    }
    want_more(w, number);
    return w->ok ? 0 : err_set(err, "no memory");
}

/* A note, before the steps that come before it. */
static void do_note(struct walk *w, uint32_t thread, const struct flow_note *n, uint64_t insn,
                    struct attached *x)
{
    switch (n->kind) {
    case FLOW_CALL:
        x->call = (const struct flow_call *)n;
        if (x->call->nr == SLICER_SIGRETURN)
            do_sigreturn(w, thread, x->call, insn);
        break;
    case FLOW_ACCESS:
        if (x->odds < PLAN_INSNS)
            x->odd[x->odds++] = (const struct flow_access *)n;
        break;
    case FLOW_SIGNAL:
        do_signal(w, thread, (const struct flow_signal *)n);
        break;
    case FLOW_BEGIN:
        x->wanted |= do_begin(w, (const struct flow_begin *)n);
        break;
    default:
        break;
    }
}

/* The thread that each note is of. */
static uint32_t *note_threads(const struct walk *w)
{
    const struct trace_chunk *c = &w->chunk;
    uint32_t *list = malloc(sizeof *list * (c->notes + 1u));
    uint32_t thread = w->scan->thread, step = 0;
    for (uint32_t i = 0; list && i < c->notes; i++) {
        if (c->note[i].step > step && c->note[i].step)
            thread = c->step[c->note[i].step - 1].thread;
        step = c->note[i].step;
        const struct flow_note *n = trace_note(c, i);
        if (n->kind == FLOW_THREAD)
            thread = trace_thread_find(w->s->trace, ((const struct flow_thread *)n)->thread);
        list[i] = thread;
    }
    return list;
}

/* Number of the first instruction of step i, or behind the last step. */
static uint64_t insns_before(const struct trace_chunk *c, uint32_t i)
{
    return c->first_insn + (i < c->steps ? c->step[i].insn_at : c->insns);
}

static int walk_chunk(struct walk *w, uint32_t number, struct attached *x, struct err *err)
{
    w->scan = &w->s->scan.chunk[number];
    if (trace_read(w->s->trace, number, &w->chunk, err) || scan_unpack(w->scan, &w->lists, err))
        return -1;
    const struct trace_chunk *c = &w->chunk;
    w->out->figures.chunks++;
    memset(w->place, 0, sizeof *w->place * TRACE_STEPS);
    uint32_t *of = note_threads(w), note = c->notes;
    int bad = !of ? err_set(err, "no memory") : follow(w, err);
    for (uint32_t i = c->steps + 1; !bad && i-- > 0;) {
        for (; note && c->note[note - 1].step == i; note--)
            do_note(w, of[note - 1], trace_note(c, note - 1), insns_before(c, i), x);
        if (!i)
            break;
        if (w->o->most && w->out->count >= w->o->most)
            break;
        bad = do_step(w, i - 1, x, err);
        x->call = NULL;
        x->odds = 0;
        x->wanted = false;
    }
    for (uint32_t i = 0; i < c->steps; i++)
        frame_unref(w->place[i].frame);
    free(of);
    return bad;
}

/* ---- all of it ---- */

static int by_place(const void *a, const void *b)
{
    const struct slice_want *const *x = a, *const *y = b;
    if ((*x)->at != (*y)->at)
        return (*x)->at > (*y)->at ? -1 : 1;
    /* An instruction comes before what is wanted before it. */
    return ((*y)->kind == SLICE_USES) - ((*x)->kind == SLICE_USES);
}

static bool anything_wanted(const struct walk *w)
{
    if (w->wants || w->memory.live || w->ghosts_waiting || w->state)
        return true;
    for (uint32_t t = 0; t < w->threads; t++)
        if (loc_set_next(&w->reg[t], 0).count)
            return true;
    return w->edges & SLICE_CONTROL;
}

int slice_walk(struct slicer *s, struct slice *out, const struct slice_want *want, size_t wants,
               const struct slice_options *o, struct err *err)
{
    struct walk w = {.s = s,
                     .out = out,
                     .o = o,
                     .edges = o->edges ? o->edges : SLICE_ALL,
                     .threads = trace_threads(s->trace),
                     .ghost_room = GHOSTS,
                     .ok = true};
    const struct slice_want **sorted = malloc(sizeof *sorted * (wants + 1));
    int bad = -1;
    w.place = malloc(sizeof *w.place * TRACE_STEPS);
    w.control = control_new(s->cfg);
    w.reg = calloc(w.threads + 1, sizeof *w.reg);
    w.coarse = calloc(w.threads + 1, sizeof *w.coarse);
    w.carry = calloc(w.threads + 1, sizeof *w.carry);
    w.summary = calloc(code_count(s->code) + 1, sizeof *w.summary);
    w.ghost = calloc(w.ghost_room, sizeof *w.ghost);
    if (!sorted || !w.place || !w.control || !w.reg || !w.coarse || !w.carry || !w.ghost ||
        !w.summary) {
        err_set(err, "no memory");
        goto done;
    }
    if (prune_init(&w.prune, o, err))
        goto done;
    for (size_t i = 0; i < wants; i++)
        sorted[i] = &want[i];
    qsort(sorted, wants, sizeof *sorted, by_place);
    w.want = sorted;
    w.wants = wants;
    struct attached x = {0};
    want_more(&w, trace_insns(s->trace));
    for (uint32_t i = trace_chunks(s->trace); i-- > 0;) {
        if ((o->most && out->count >= o->most) || !anything_wanted(&w) ||
            trace_chunk_first(s->trace, i + 1) <= o->first)
            break;
        if (walk_chunk(&w, i, &x, err))
            goto done;
    }
    bad = 0;
done:
    trace_chunk_deinit(&w.chunk);
    scan_lists_deinit(&w.lists);
    control_free(w.control);
    wanted_deinit(&w.memory);
    state_free(w.state);
    prune_deinit(&w.prune);
    free(sorted);
    free(w.place);
    free(w.reg);
    free(w.coarse);
    free(w.carry);
    for (uint32_t i = 0; w.summary && i < code_count(s->code); i++)
        summary_deinit(&w.summary[i]);
    free(w.summary);
    free(w.ghost);
    return bad;
}
