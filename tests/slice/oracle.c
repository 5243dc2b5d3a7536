/* oracle.c - the walk over a trace that makes the graph, and slices of it.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/slicing.md, "Data" and "Saved registers", turned around: walking forwards, a definition sets
 * the shadow of its location to the node. Where the old value may stay (KEPT, `may`) the shadow
 * becomes a link to the node and to what was there; where a value passes without the node (restored
 * registers) or byte by byte (rep movs), it becomes what it was there, or a link to that. So the
 * graph has an edge wherever a walk backwards would find one.
 *
 * Choices where the text leaves one:
 * - Return addresses are looked through also when saved registers are not.
 * - SLICE_USES takes all that a rep movs reads; what an instruction may keep is wanted by nobody.
 * - What restores by mov has a memory operand like what saves: rsp or rbp, no index.
 * - A jcc that is not taken goes to the next instruction like others that jump.
 */
#include "tests/slice/oracle_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LOOK_BACK = 32, /* for the same dependence */
    PLACES_MOST = 64,
};

void *oracle_zeros(size_t count, size_t element)
{
    void *p = calloc(count ? count : 1, element);
    if (!p) {
        fprintf(stderr, "oracle: no memory\n");
        exit(2);
    }
    return p;
}

void *oracle_more(void *array, size_t *room, size_t element)
{
    *room = *room ? 2 * *room : 16;
    array = realloc(array, *room * element);
    if (!array) {
        fprintf(stderr, "oracle: no memory\n");
        exit(2);
    }
    return array;
}

/* ---- dependences ---- */

source oracle_join(struct oracle *o, source a, source b)
{
    const struct link *last = o->links ? &o->link[o->links - 1] : NULL;
    if (!a || a == b)
        return b;
    if (!b)
        return a;
    if (!last || last->of[0] != a || last->of[1] != b) {
        struct link new = {{a, b}};
        ORACLE_PUSH(o->link, o->links, o->link_room, new);
    }
    return LINK | (source)(o->links - 1);
}

static size_t deps_of_node(const struct oracle *o)
{
    return o->deps - o->dep_at[o->nodes - 1];
}

void oracle_use(struct oracle *o, source of, unsigned kind)
{
    size_t n = deps_of_node(o);
    if (!of)
        return;
    for (size_t i = 1; i <= n && i <= LOOK_BACK; i++)
        if (o->dep[o->deps - i].of == of && o->dep[o->deps - i].kind == kind)
            return;
    struct dep d = {of, kind};
    ORACLE_PUSH(o->dep, o->deps, o->dep_room, d);
}

bool oracle_pruned(const struct oracle *o, bool memory, uint64_t at)
{
    const struct oracle_node *n = &o->node[o->nodes - 1];
    gaddr pc = code_block(o->code, n->block)->insn[n->insn].in.pc;
    for (size_t i = 0; i < o->options.prunes; i++) {
        const struct slice_prune *p = &o->options.prune[i];
        bool frame = p->kind == SLICE_PRUNE_FRAME;
        if ((p->from || p->to) && (pc < p->from || pc >= p->to))
            continue;
        if (memory == (p->kind == SLICE_PRUNE_REGISTER) || (frame && !n->cfa))
            continue;
        if (at - (p->addr + (frame ? n->cfa : 0)) < p->bytes)
            return true;
    }
    return false;
}

void oracle_use_memory(struct oracle *o, gaddr addr, uint64_t bytes)
{
    source before = 0;
    for (uint64_t i = 0; i < bytes; i++) {
        source of = oracle_shadow_get(o->memory, addr + i);
        if (o->options.prunes && oracle_pruned(o, true, addr + i))
            continue;
        if (of != before)
            oracle_use(o, of, DEFUSE_VALUE);
        before = of;
    }
}

void oracle_use_registers(struct oracle *o, struct othread *t, const struct defuse *d)
{
    for (unsigned i = 0; i < d->uses; i++)
        for (unsigned k = 0; d->use[i].kind != DEFUSE_KEPT && k < d->use[i].count; k++)
            if (!oracle_pruned(o, false, d->use[i].first + k))
                oracle_use(o, t->reg[d->use[i].first + k], d->use[i].kind);
}

void oracle_define_registers(struct oracle *o, struct othread *t, const struct defuse *d,
                             uint32_t node, const struct arm *restores)
{
    struct loc_set kept = {{0}};
    for (unsigned i = 0; i < d->uses; i++)
        if (d->use[i].kind == DEFUSE_KEPT)
            loc_set_add(&kept, d->use[i].first, d->use[i].count);
    for (unsigned i = 0; i < d->defs; i++)
        for (unsigned k = 0; k < d->def[i].count; k++) {
            unsigned loc = d->def[i].first + k;
            unsigned byte = restores ? loc - loc_gpr(restores->reg) : LOC_GPR_BYTES;
            if (byte < LOC_GPR_BYTES)
                t->reg[loc] = restores->of[byte];
            else if (loc_set_has(&kept, loc))
                t->reg[loc] = oracle_join(o, node + 1, t->reg[loc]);
            else
                t->reg[loc] = node + 1;
        }
}

void oracle_write(struct oracle *o, gaddr addr, uint64_t bytes, uint32_t node, bool may)
{
    oracle_shadow_disarm(o->memory, addr, bytes);
    if (!may)
        oracle_shadow_set(o->memory, addr, bytes, node + 1);
    for (uint64_t i = 0; may && i < bytes; i++)
        oracle_shadow_set(o->memory, addr + i, 1,
                          oracle_join(o, node + 1, oracle_shadow_get(o->memory, addr + i)));
}

void oracle_copy(struct oracle *o, gaddr to, const gaddr *from, uint64_t bytes, source by)
{
    source *of = oracle_zeros(bytes, sizeof *of);
    for (uint64_t i = 0; i < bytes; i++)
        of[i] = oracle_pruned(o, true, from[i])
                    ? by
                    : oracle_join(o, by, oracle_shadow_get(o->memory, from[i]));
    oracle_shadow_disarm(o->memory, to, bytes);
    for (uint64_t i = 0; i < bytes; i++)
        oracle_shadow_set(o->memory, to + i, 1, of[i]);
    free(of);
}

/* ---- instructions ---- */

/* What a step's instructions are executed with. */
struct run {
    struct othread *t;
    const struct code_block *b;
    const uint64_t *value;
    unsigned flags;
    bool resolver;
    uint32_t frame;
    size_t notes; /* the first event behind the step */
    uint64_t step;
};

static bool is_state(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        return true;
    default:
        return false;
    }
}

/* Register + 1, if the operand is a 64-bit general register. */
static uint8_t wide_register(const ZydisDecodedOperand *op)
{
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->size != 64 ||
        ZydisRegisterGetClass(op->reg.value) != ZYDIS_REGCLASS_GPR64)
        return 0;
    return (uint8_t)(insn_gpr_number(op->reg.value) + 1);
}

static bool on_stack(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
           (op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_RBP);
}

static void find_trait(const struct insn *in, struct trait *out)
{
    struct insn_operands ops;
    struct mem_access list[ACCESSES_MOST];
    *out = (struct trait){.known = true, .state = is_state(in)};
    out->brings_state = out->state && strstr(insn_name(in), "rstor");
    if (in->kind == INSN_ILLEGAL)
        return;
    insn_operands(in, &ops);
    const ZydisDecodedOperand *op = ops.op;
    int n = accesses_of(in, &ops, list);
    for (int i = 0; i < n; i++) {
        out->odd |= plan_odd(in, &ops, &list[i]);
        out->rep_movs |= list[i].repeats && list[i].shape == ACCESS_STRING && n == 2 &&
                         list[0].read != list[0].write && list[1].read != list[1].write &&
                         list[0].read != list[1].read;
    }
    bool push = in->mnemonic == ZYDIS_MNEMONIC_PUSH, pop = in->mnemonic == ZYDIS_MNEMONIC_POP;
    bool mov = in->mnemonic == ZYDIS_MNEMONIC_MOV;
    if (push || (mov && on_stack(&op[0])))
        out->save = wide_register(&op[mov]);
    if (out->save == RSP + 1)
        out->save = 0;
    if (pop || (mov && on_stack(&op[1])))
        out->restore = wide_register(&op[0]);
    out->push_rip =
        push && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && op[0].mem.base == ZYDIS_REGISTER_RIP;
}

static const struct trait *trait_of(struct oracle *o, const struct code_block *b, unsigned i)
{
    struct trait **list = &o->trait[b->number];
    if (!*list)
        *list = oracle_zeros(b->insns, sizeof **list);
    struct trait *t = &(*list)[i];
    const struct oracle_facts *facts = o->options.facts;
    if (!t->known) {
        find_trait(&b->insn[i].in, t);
        if (t->save && facts)
            t->slots = (uint8_t)facts->slots(facts->ctx, b->insn[i].in.pc, t->save - 1u, t->slot,
                                             SLOTS_MOST);
    }
    return t;
}

/* Memory of an access, all elements of it. */
struct place {
    gaddr addr;
    uint64_t bytes;
};

static const struct flow_access *odd_note(const struct oracle *o, const struct run *r, gaddr pc)
{
    for (size_t i = r->notes; i < o->events && o->event[i].step == r->step + 1; i++) {
        const struct flow_access *note = (const struct flow_access *)o->event[i].note;
        if (note->note.kind == FLOW_ACCESS && note->pc == pc)
            return note;
    }
    return NULL;
}

/* Access number k of the list that accesses_of() makes: its places, and how many they are. A gather
 * has one for each element. */
static size_t places_of(struct oracle *o, const struct run *r, unsigned i, unsigned k,
                        struct place *out)
{
    const struct code_insn *ci = &r->b->insn[i];
    if (k >= ci->accesses)
        return 0;
    const struct plan_access *a = &r->b->access[ci->access_at + k];
    if (trait_of(o, r->b, i)->odd) {
        const struct flow_access *note = odd_note(o, r, ci->in.pc);
        size_t n = note ? (note->note.bytes - sizeof *note) / sizeof note->range[0] : 0;
        bool all = a->mem.shape == ACCESS_VECTOR;
        size_t first = all ? 0 : k, end = all || n <= k ? n : k + 1u, count = 0;
        for (size_t e = first; e < end && count < PLACES_MOST; e++)
            out[count++] = (struct place){note->range[e].addr, note->range[e].bytes};
        return count;
    }
    *out = (struct place){code_address(a, r->value), a->mem.bytes};
    if (code_is_repeated(a)) {
        int64_t n = code_repeats(r->b, a, r->value);
        uint64_t all = (uint64_t)(n < 0 ? -n : n);
        out->addr -= n < 0 ? (all - 1) * out->bytes : 0;
        out->bytes *= all;
    }
    return 1;
}

/* The first of them; no bytes: none. */
static struct place place_of(struct oracle *o, const struct run *r, unsigned i, unsigned k)
{
    struct place p[PLACES_MOST];
    return places_of(o, r, i, k, p) ? p[0] : (struct place){0, 0};
}

/* The number of the access of operand `op`. */
static unsigned access_number(const struct run *r, unsigned i, unsigned op)
{
    const struct code_insn *ci = &r->b->insn[i];
    unsigned k = 0;
    while (k < ci->accesses && r->b->access[ci->access_at + k].mem.op != op)
        k++;
    return k;
}

/* The first place that it reads or writes. */
static gaddr address_of(struct oracle *o, const struct run *r, unsigned i, bool write)
{
    const struct code_insn *ci = &r->b->insn[i];
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct mem_access *m = &r->b->access[ci->access_at + k].mem;
        if (write ? m->write : m->read)
            return place_of(o, r, i, k).addr;
    }
    return 0;
}

/* The resolver saves what functions get in vector registers, and brings it back. */
static void resolver_state(const struct run *r, bool brings)
{
    struct frame *f = oracle_frames_top(&r->t->stack);
    size_t bytes = (LOC_X87 - LOC_VEC) * sizeof(source);
    if (brings && f->state)
        memcpy(&r->t->reg[LOC_VEC], f->state, bytes);
    if (brings)
        return;
    if (!f->state)
        f->state = oracle_zeros(1, bytes);
    memcpy(f->state, &r->t->reg[LOC_VEC], bytes);
}

static bool does_nothing(struct oracle *o, const struct run *r, unsigned i)
{
    const struct code_insn *ci = &r->b->insn[i];
    if (r->resolver && trait_of(o, r->b, i)->state)
        return true;
    const struct plan_access *a = ci->accesses ? &r->b->access[ci->access_at] : NULL;
    return a && code_is_repeated(a) && code_repeats(r->b, a, r->value) == 0;
}

/* A ret whose return address is what its call left there. */
static bool is_plain_return(struct oracle *o, const struct run *r, unsigned i)
{
    if (r->b->insn[i].in.kind != INSN_RET)
        return false;
    gaddr slot = address_of(o, r, i, false);
    const struct arm *arm = oracle_shadow_armed(o->memory, slot);
    return oracle_frames_returns(&r->t->stack, slot) && arm && arm->reg == ARM_RETURN;
}

/* The source of a rep movs, or its destination. */
static struct place copied(struct oracle *o, const struct run *r, unsigned i, bool from)
{
    bool first = r->b->access[r->b->insn[i].access_at].mem.read;
    return place_of(o, r, i, first != from);
}

/* What a rep movs does, by addresses: of each byte it writes, where that was before, and of each
 * byte it reads, whether that was still as before. One element after the other. */
struct movs {
    struct place from, to;
    gaddr *of;   /* by byte of the destination */
    bool *first; /* by byte of the source */
};

static void do_movs(struct oracle *o, const struct run *r, unsigned i, struct movs *m)
{
    const struct plan_access *a = &r->b->access[r->b->insn[i].access_at];
    uint64_t size = a->mem.bytes, n;
    bool down = code_repeats(r->b, a, r->value) < 0;
    m->from = copied(o, r, i, true);
    m->to = copied(o, r, i, false);
    m->of = oracle_zeros(m->to.bytes + 1, sizeof *m->of);
    m->first = oracle_zeros(m->to.bytes + 1, sizeof *m->first);
    bool *written = oracle_zeros(m->to.bytes + 1, sizeof *written);
    n = m->to.bytes / size;
    for (uint64_t e = 0; e < n; e++) {
        uint64_t at = (down ? n - 1 - e : e) * size;
        for (uint64_t k = at; k < at + size; k++) {
            gaddr addr = m->from.addr + k;
            uint64_t back = addr - m->to.addr; /* its place in the destination, if it is there */
            m->first[k] = back >= m->to.bytes || !written[back];
            m->of[k] = m->first[k] ? addr : m->of[back];
        }
        memset(written + at, true, size);
    }
    free(written);
}

static void movs_free(struct movs *m)
{
    free(m->of);
    free(m->first);
}

/* Who wants all uses of this instruction gets those, too, that have no edge. */
static void add_all_uses(struct oracle *o, const struct run *r, unsigned i)
{
    for (size_t p = o->here; p < o->resolved; p++) {
        struct point *pt = &o->point[p];
        struct movs m;
        if (pt->want->kind != SLICE_USES || !trait_of(o, r->b, i)->rep_movs)
            continue;
        do_movs(o, r, i, &m);
        for (uint64_t k = 0; k < m.from.bytes; k++)
            if (m.first[k] && !oracle_pruned(o, true, m.from.addr + k))
                ORACLE_PUSH(pt->of, pt->count, pt->room,
                            oracle_shadow_get(o->memory, m.from.addr + k));
        movs_free(&m);
    }
}

/* In a mapping that nobody may write to at the end. */
static bool is_constant(struct oracle *o, const struct place *p)
{
    const struct trace_map *map;
    size_t maps = trace_maps(o->trace, &map);
    for (size_t i = 0; i < maps; i++)
        if (p->addr >= map[i].start && p->addr + p->bytes <= map[i].end)
            return !(map[i].prot & PROT_WRITE);
    return false;
}

static void reads(struct oracle *o, const struct run *r, unsigned i, const struct defuse *d)
{
    if (trait_of(o, r->b, i)->rep_movs || is_plain_return(o, r, i))
        return;
    for (unsigned a = 0; a < d->accesses; a++) {
        struct place p[PLACES_MOST];
        size_t n = places_of(o, r, i, access_number(r, i, d->access[a].at.op), p);
        for (size_t k = 0; d->access[a].at.read && k < n; k++)
            if (o->options.relocated || !is_constant(o, &p[k]))
                oracle_use_memory(o, p[k].addr, p[k].bytes);
    }
}

static void writes(struct oracle *o, const struct run *r, unsigned i, const struct defuse *d,
                   uint32_t node)
{
    if (trait_of(o, r->b, i)->rep_movs) {
        struct movs m;
        do_movs(o, r, i, &m);
        oracle_copy(o, m.to.addr, m.of, m.to.bytes, node + 1);
        movs_free(&m);
        return;
    }
    for (unsigned a = 0; a < d->accesses; a++) {
        struct place p[PLACES_MOST];
        size_t n = places_of(o, r, i, access_number(r, i, d->access[a].at.op), p);
        for (size_t k = 0; d->access[a].at.write && k < n; k++)
            oracle_write(o, p[k].addr, p[k].bytes, node, d->access[a].may);
    }
}

/* Call frame information names the address for the register. */
static bool is_named(const struct trait *t, const struct frame *f, gaddr addr)
{
    gaddr cfa = f->slot + 8;
    for (unsigned i = 0; f->kind != FRAME_ROOT && i < t->slots; i++)
        if (addr == cfa + (uint64_t)t->slot[i])
            return true;
    return false;
}

/* rbx, rbp, r12 to r15: by the numbers that instructions have for them. */
#define CALLEE_SAVED "\3\5\14\15\16\17"

static void save(struct oracle *o, const struct run *r, unsigned i, unsigned reg)
{
    struct frame *f = oracle_frames_top(&r->t->stack);
    struct arm arm = {.addr = address_of(o, r, i, true), .frame = r->frame, .reg = (uint8_t)reg};
    if (f->number != r->frame)
        return;
    bool early = f->saves++ < o->options.max_save &&
                 (f->resolver || (reg && strchr(CALLEE_SAVED, (int)reg)));
    if (!early && !is_named(trait_of(o, r->b, i), f, arm.addr))
        return;
    memcpy(arm.of, &r->t->reg[loc_gpr(reg)], sizeof arm.of);
    oracle_shadow_arm(o->memory, &arm);
}

static const struct arm *restored(struct oracle *o, const struct run *r, unsigned i)
{
    uint8_t reg = trait_of(o, r->b, i)->restore;
    if (!reg || o->options.keep_saves)
        return NULL;
    const struct arm *arm = oracle_shadow_armed(o->memory, address_of(o, r, i, false));
    return arm && arm->reg == reg - 1 && arm->frame == r->frame ? arm : NULL;
}

static void execute(struct oracle *o, const struct run *r, unsigned i, uint32_t node)
{
    const struct insn *in = &r->b->insn[i].in;
    const struct trait *trait = trait_of(o, r->b, i);
    if (r->resolver && trait->state)
        resolver_state(r, trait->brings_state);
    if (does_nothing(o, r, i))
        return;
    const struct defuse *d = code_defuse(o->code, r->b, i, r->flags, r->value);
    const struct arm *arm = restored(o, r, i);
    oracle_use_registers(o, r->t, d);
    reads(o, r, i, d);
    add_all_uses(o, r, i);
    oracle_define_registers(o, r->t, d, node, arm);
    writes(o, r, i, d, node);
    if (trait->save)
        save(o, r, i, trait->save - 1u);
    if (in->kind == INSN_CALL || in->kind == INSN_CALL_IND) {
        struct arm back = {.addr = address_of(o, r, i, true), .reg = ARM_RETURN};
        oracle_shadow_arm(o->memory, &back);
    }
}

/* ---- points ---- */

static void resolve_points(struct oracle *o, uint64_t at)
{
    o->here = o->resolved;
    for (; o->resolved < o->points && o->point[o->resolved].want->at <= at; o->resolved++) {
        struct point *p = &o->point[o->resolved];
        const struct slice_want *w = p->want;
        if (w->kind == SLICE_USES)
            ORACLE_PUSH(p->of, p->count, p->room, (source)w->at + 1);
        for (uint64_t i = 0; w->kind == SLICE_MEMORY && i < w->bytes; i++)
            ORACLE_PUSH(p->of, p->count, p->room, oracle_shadow_get(o->memory, w->addr + i));
        for (uint64_t i = 0; w->kind == SLICE_REGISTER && i < w->bytes; i++)
            ORACLE_PUSH(p->of, p->count, p->room, o->thread[w->thread].reg[w->addr + i]);
    }
}

/* ---- steps and notes ---- */

static void begin_node(struct oracle *o, const struct run *r, const struct trace_step *s,
                       unsigned i)
{
    resolve_points(o, o->nodes);
    const struct frame *f = oracle_frames_top(&r->t->stack);
    source control = oracle_frames_control(&r->t->stack, r->b->insn[i].in.pc);
    o->dep_at[o->nodes] = o->deps;
    o->node[o->nodes++] = (struct oracle_node){.block = s->block,
                                               .insn = (uint16_t)i,
                                               .thread = s->thread,
                                               .control = control,
                                               .frame = f->number,
                                               .entry = f->entry,
                                               .cfa = f->kind == FRAME_CALL ? f->slot + 8 : 0};
}

/* Where rsp is set, and a pop and an indirect jump end the block behind that. */
static gaddr popped(const struct run *r, unsigned insns, unsigned setter)
{
    unsigned n = r->b->insns;
    return insns == n && setter + 3 == n && r->b->insn[n - 1].in.kind == INSN_JMP_IND &&
                   r->b->insn[n - 2].in.mnemonic == ZYDIS_MNEMONIC_POP
               ? 8
               : 0;
}

static void set_stack(const struct run *r, unsigned insns)
{
    for (unsigned k = 0; k < r->b->slots; k++)
        if (r->b->slot[k].kind == PLAN_STACK && r->b->slot[k].insn < insns)
            oracle_frames_stack_set(&r->t->stack,
                                    r->value[k] + popped(r, insns, r->b->slot[k].insn));
}

static void leave(struct oracle *o, const struct run *r, uint32_t node)
{
    struct leaving *l = &r->t->stack.leaving;
    unsigned last = r->b->insns - 1u;
    const struct insn *in = code_last(r->b);
    bool calls = in->kind == INSN_CALL || in->kind == INSN_CALL_IND;
    const struct insn *before = last ? &r->b->insn[last - 1].in : &r->t->last;
    *l = (struct leaving){.is = true, .in = in, .node = node, .frame = r->frame};
    if (calls || in->kind == INSN_RET)
        l->slot = address_of(o, r, last, calls);
    if (before->len && before->pc + before->len == in->pc) {
        struct trait t;
        find_trait(before, &t);
        l->after_push = t.push_rip;
    }
}

static void take_step(struct oracle *o, const struct trace_chunk *c, const struct trace_step *s,
                      uint64_t number)
{
    struct run r = {.t = &o->thread[s->thread],
                    .b = code_block(o->code, s->block),
                    .value = c->value + s->value_at,
                    .notes = o->event_next,
                    .step = number};
    oracle_frames_arrive(o, &r.t->stack, r.b->pc);
    const struct frame *f = oracle_frames_top(&r.t->stack);
    r.frame = f->number;
    r.resolver = f->resolver;
    r.flags = o->options.stack_pointer               ? DEFUSE_STACK_POINTER
              : oracle_graph_frame_pointer(f->graph) ? DEFUSE_FRAME
                                                     : 0;
    bool whole = s->insns == r.b->insns;
    for (unsigned i = 0; i < s->insns; i++) {
        begin_node(o, &r, s, i);
        uint32_t node = (uint32_t)o->nodes - 1;
        bool last = i == r.b->insns - 1u;
        if (last)
            set_stack(&r, s->insns);
        if (last && r.b->insn[i].in.kind == INSN_SYSCALL)
            r.t->calling = (struct calling){true, r.b, r.value, node, r.flags};
        else
            execute(o, &r, i, node);
        if (last)
            leave(o, &r, node);
    }
    if (!whole)
        set_stack(&r, s->insns);
    if (s->insns)
        r.t->last = r.b->insn[s->insns - 1].in;
}

static void take_note(struct oracle *o, const struct flow_note *n)
{
    struct othread *t = &o->thread[o->now];
    switch (n->kind) {
    case FLOW_THREAD:
        for (o->now = 0; o->now < o->threads - 1; o->now++)
            if (trace_thread(o->trace, o->now) == ((const struct flow_thread *)n)->thread)
                break;
        break;
    case FLOW_CALL:
        oracle_call(o, t, (const struct flow_call *)n);
        break;
    case FLOW_SIGNAL:
        oracle_frames_arrive(o, &t->stack, ((const struct flow_signal *)n)->pc);
        oracle_signal(o, t, (const struct flow_signal *)n);
        break;
    case FLOW_BEGIN:
        oracle_begin(o, (const struct flow_begin *)n);
        break;
    default:
        break;
    }
}

static void take_notes(struct oracle *o, uint64_t step)
{
    while (o->event_next < o->events && o->event[o->event_next].step <= step)
        take_note(o, o->event[o->event_next++].note);
}

/* ---- all of it ---- */

static int load(struct oracle *o, struct err *err)
{
    uint64_t steps = 0;
    o->chunk = oracle_zeros(trace_chunks(o->trace), sizeof *o->chunk);
    for (uint32_t i = 0; i < trace_chunks(o->trace); i++) {
        struct trace_chunk *c = &o->chunk[i];
        if (trace_read(o->trace, i, c, err))
            return -1;
        for (uint32_t k = 0; k < c->notes; k++) {
            struct event e = {steps + c->note[k].step, trace_note(c, k)};
            ORACLE_PUSH(o->event, o->events, o->event_room, e);
        }
        steps += c->steps;
    }
    return 0;
}

struct oracle *oracle_new(struct trace *trace, struct oracle_graphs *graphs,
                          const struct oracle_options *options, const struct slice_want *want,
                          size_t wants, struct err *err)
{
    struct oracle *o = oracle_zeros(1, sizeof *o);
    o->trace = trace;
    o->code = trace_code(trace);
    o->graphs = graphs;
    o->options = *options;
    if (!o->options.max_save)
        o->options.max_save = SLICE_MAX_SAVE;
    o->trait = oracle_zeros(code_count(o->code), sizeof *o->trait);
    o->threads = trace_threads(trace);
    o->thread = oracle_zeros(o->threads, sizeof *o->thread);
    o->memory = oracle_shadow_new();
    o->points = wants;
    o->point = oracle_zeros(wants, sizeof *o->point);
    for (size_t i = 0; i < wants; i++)
        o->point[i].want = &want[i];
    o->node = oracle_zeros(trace_insns(trace), sizeof *o->node);
    o->dep_at = oracle_zeros(trace_insns(trace) + 1, sizeof *o->dep_at);
    if (load(o, err)) {
        oracle_free(o);
        return NULL;
    }
    uint64_t number = 0;
    for (uint32_t i = 0; i < trace_chunks(trace); i++)
        for (uint32_t k = 0; k < o->chunk[i].steps; k++) {
            take_notes(o, number);
            take_step(o, &o->chunk[i], &o->chunk[i].step[k], number++);
        }
    take_notes(o, UINT64_MAX);
    o->dep_at[o->nodes] = o->deps;
    resolve_points(o, UINT64_MAX);
    return o;
}

void oracle_free(struct oracle *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; o->chunk && i < trace_chunks(o->trace); i++)
        trace_chunk_deinit(&o->chunk[i]);
    for (uint32_t i = 0; i < code_count(o->code); i++)
        free(o->trait[i]);
    for (uint32_t i = 0; i < o->threads; i++) {
        oracle_frames_deinit(&o->thread[i].stack);
        free(o->thread[i].delivery);
    }
    for (size_t i = 0; i < o->points; i++)
        free(o->point[i].of);
    oracle_shadow_free(o->memory);
    free(o->chunk);
    free(o->event);
    free(o->trait);
    free(o->thread);
    free(o->point);
    free(o->node);
    free(o->dep_at);
    free(o->dep);
    free(o->link);
    free(o);
}
