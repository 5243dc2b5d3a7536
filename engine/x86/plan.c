/* plan.c - which values of a block have to be seen.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every general register is a symbol plus a constant. A symbol stands for an unknown value: what
 * the register held at the block's entry, or what an instruction put there. An access whose base
 * symbol (or base, index and scale) was seen before in the block needs no slot.
 */
#include "engine/x86/plan.h"

#include "engine/rt/rt.h"

enum { SYM_NONE = 0xff, SYMS_FIRST = GPR_COUNT, SEEN = 32 };

struct term {
    uint8_t sym;
    int64_t off;
};

/* What a slot tells: the value of base + index * scale (+ fs). */
struct seen {
    uint8_t base, index, scale;
    bool fs;
    uint16_t slot;
    int64_t off; /* of the constants in it */
};

struct state {
    struct term reg[GPR_COUNT];
    struct seen seen[SEEN];
    int seen_count;
    uint8_t syms;
    struct plan *plan;
};

bool plan_odd(const struct insn *in, const struct insn_operands *ops, const struct mem_access *m)
{
    return m->shape == ACCESS_VECTOR || in->gs_relative ||
           ops->op[m->op].mem.segment == ZYDIS_REGISTER_GS;
}

static uint16_t add_slot(struct plan *p, int insn, enum plan_kind kind, int what, bool after)
{
    rt_check(p->slots < PLAN_SLOTS);
    p->slot[p->slots] = (struct plan_slot){(uint8_t)insn, (uint8_t)kind, (uint8_t)what, after};
    return p->slots++;
}

static struct seen *find_seen(struct state *s, const struct seen *want)
{
    for (int i = 0; i < s->seen_count; i++) {
        struct seen *k = &s->seen[i];
        if (k->base == want->base && k->index == want->index && k->scale == want->scale &&
            k->fs == want->fs)
            return k;
    }
    return NULL;
}

/* The slot that the operand's address follows from, and what to add. */
static void locate(struct state *s, int n, const struct insn *in, const ZydisDecodedOperand *op,
                   struct plan_access *a)
{
    int base = insn_gpr_number(op->mem.base), index = insn_gpr_number(op->mem.index);
    int64_t disp = op->mem.disp.value + a->mem.moved;
    bool rip = op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP;
    bool fs = op->mem.segment == ZYDIS_REGISTER_FS && in->mnemonic != ZYDIS_MNEMONIC_MOVDIR64B;
    a->slot = PLAN_NONE;
    if (!fs && base < 0 && index < 0) {
        a->add = rip ? (int64_t)in->target : disp;
        return;
    }
    if (in->addr32 || rip) { /* cut off: followed no further */
        a->slot = add_slot(s->plan, n, PLAN_ADDRESS, a->mem.op, false);
        a->add = a->mem.moved;
        return;
    }
    struct seen want = {.base = base < 0 ? SYM_NONE : s->reg[base].sym,
                        .index = index < 0 ? SYM_NONE : s->reg[index].sym,
                        .scale = index < 0 ? 0 : op->mem.scale,
                        .fs = fs};
    int64_t off = (base < 0 ? 0 : s->reg[base].off) +
                  (index < 0 ? 0 : s->reg[index].off * op->mem.scale) + disp;
    struct seen *known = find_seen(s, &want);
    if (!known) {
        bool plain = index < 0 && !fs;
        want.off = plain ? s->reg[base].off : off - a->mem.moved;
        want.slot = plain ? add_slot(s->plan, n, PLAN_REG, base, false)
                          : add_slot(s->plan, n, PLAN_ADDRESS, a->mem.op, false);
        known = &s->seen[s->seen_count < SEEN ? s->seen_count++ : SEEN - 1];
        *known = want;
    }
    a->slot = known->slot;
    a->add = off - known->off;
}

static void plan_access(struct state *s, int n, const struct insn *in,
                        const struct insn_operands *ops, const struct mem_access *m)
{
    struct plan *p = s->plan;
    rt_check(p->accesses < PLAN_ACCESSES);
    struct plan_access *a = &p->access[p->accesses++];
    *a = (struct plan_access){
        .mem = *m, .insn = (uint8_t)n, .slot = PLAN_NONE, .count = PLAN_NONE, .pointer = PLAN_NONE};
    if (plan_odd(in, ops, m))
        return;
    locate(s, n, in, &ops->op[m->op], a);
    if (m->shape == ACCESS_TABLE)
        a->count = add_slot(p, n, PLAN_REG, RAX, false);
    if (m->shape == ACCESS_BITS)
        a->count = add_slot(p, n, PLAN_REG, insn_gpr_number(ops->op[1].reg.value), false);
}

/* The count of a repeated instruction, for all its accesses. */
static void plan_count(struct state *s, int n, const struct insn_operands *ops, int first)
{
    struct plan *p = s->plan;
    if (first == p->accesses || !p->access[first].mem.repeats ||
        p->access[first].mem.shape != ACCESS_STRING)
        return;
    int pointer = first;
    for (int i = first; i < p->accesses; i++)
        if (insn_gpr_number(ops->op[p->access[i].mem.op].mem.base) == RDI)
            pointer = i;
    int reg = insn_gpr_number(ops->op[p->access[pointer].mem.op].mem.base);
    uint16_t after = add_slot(p, n, PLAN_REG, reg, true);
    for (int i = first; i < p->accesses; i++) {
        p->access[i].count = after;
        p->access[i].pointer = (uint16_t)pointer;
    }
}

/* ---- what becomes of registers ---- */

static struct term fresh(struct state *s)
{
    rt_check(s->syms < SYM_NONE);
    return (struct term){s->syms++, 0};
}

/* Where a 64-bit register goes by adding a constant to one; false: it does not. */
static bool followed(struct state *s, const struct insn_operands *ops, int *reg, struct term *to)
{
    const ZydisDecodedOperand *a = &ops->op[0], *b = &ops->op[1];
    if (a->type != ZYDIS_OPERAND_TYPE_REGISTER || a->size != 64)
        return false;
    *reg = insn_gpr_number(a->reg.value);
    if (*reg < 0)
        return false;
    *to = s->reg[*reg];
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
        to->off += b->imm.value.s;
        return b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_SUB:
        to->off -= b->imm.value.s;
        return b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_INC:
        to->off++;
        return true;
    case ZYDIS_MNEMONIC_DEC:
        to->off--;
        return true;
    case ZYDIS_MNEMONIC_MOV: {
        int from = b->type == ZYDIS_OPERAND_TYPE_REGISTER ? insn_gpr_number(b->reg.value) : -1;
        if (from >= 0)
            *to = s->reg[from];
        return from >= 0;
    }
    case ZYDIS_MNEMONIC_LEA: {
        int from = insn_gpr_number(b->mem.base);
        if (from < 0 || b->mem.index != ZYDIS_REGISTER_NONE || ops->z.address_width != 64)
            return false;
        *to = s->reg[from];
        to->off += b->mem.disp.value;
        return true;
    }
    default:
        return false;
    }
}

/* The bytes by which an instruction moves the stack, and nothing else does; 0: it does not. */
static int64_t stack_moves(const struct state *s, const struct insn_operands *ops, int first)
{
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
        break;
    default:
        return 0;
    }
    for (int i = first; i < s->plan->accesses; i++) {
        const struct mem_access *m = &s->plan->access[i].mem;
        const ZydisDecodedOperand *op = &ops->op[m->op];
        if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op->mem.base == ZYDIS_REGISTER_RSP)
            return m->write ? -m->bytes : m->bytes;
    }
    return 0;
}

/* rsp is set to something unknown that is not this function's frame. */
static bool other_stack(const struct insn_operands *ops)
{
    const ZydisDecodedOperand *b = &ops->op[1];
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return b->type != ZYDIS_OPERAND_TYPE_REGISTER || b->reg.value != ZYDIS_REGISTER_RBP;
    case ZYDIS_MNEMONIC_LEA:
        return b->mem.base != ZYDIS_REGISTER_RBP;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_XCHG:
        return true;
    default:
        return false; /* and, sub: the same stack, further down */
    }
}

static void follow(struct state *s, int n, const struct insn_operands *ops, int first)
{
    int reg;
    struct term to;
    if (ops->z.mnemonic == ZYDIS_MNEMONIC_LEAVE) {
        s->reg[RSP] = (struct term){s->reg[RBP].sym, s->reg[RBP].off + 8};
        s->reg[RBP] = fresh(s);
        return;
    }
    bool known = followed(s, ops, &reg, &to);
    int64_t moves = stack_moves(s, ops, first);
    for (int i = 0; i < ops->z.operand_count; i++) {
        const ZydisDecodedOperand *op = &ops->op[i];
        int r = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? insn_gpr_number(op->reg.value) : -1;
        bool stack = moves && r == RSP && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
        if (r >= 0 && (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && !stack) {
            s->reg[r] = fresh(s);
            moves = r == RSP ? 0 : moves;
        }
    }
    s->reg[RSP].off += moves;
    bool lost = s->reg[RSP].sym >= SYMS_FIRST;
    if (known)
        s->reg[reg] = to;
    bool writes_rsp = ops->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                      insn_gpr_number(ops->op[0].reg.value) == RSP;
    if (((lost && !known) || (known && reg == RSP && to.sym != RSP)) && writes_rsp &&
        other_stack(ops))
        add_slot(s->plan, n, PLAN_STACK, RSP, true);
}

void plan_block(const struct insn *insn, int count, struct plan *out)
{
    struct state s = {.syms = SYMS_FIRST, .plan = out};
    struct insn_operands ops;
    struct mem_access list[ACCESSES_MOST];
    out->slots = out->accesses = 0;
    for (int i = 0; i < GPR_COUNT; i++)
        s.reg[i] = (struct term){(uint8_t)i, 0};
    for (int n = 0; n < count; n++) {
        if (insn[n].kind == INSN_ILLEGAL)
            return;
        insn_operands(&insn[n], &ops);
        int first = out->accesses, k = accesses_of(&insn[n], &ops, list);
        for (int i = 0; i < k; i++)
            plan_access(&s, n, &insn[n], &ops, &list[i]);
        plan_count(&s, n, &ops, first);
        if (insn[n].isa == ZYDIS_ISA_EXT_X87)
            add_slot(out, n, PLAN_TOP, 0, false);
        follow(&s, n, &ops, first);
    }
}
