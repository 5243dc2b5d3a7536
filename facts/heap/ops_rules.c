/* ops_rules.c - what becomes of general registers. SPDX-License-Identifier: MIT */
#include "facts/heap/ops_int.h"

/* ---- moves ---- */

bool rule_moves(struct compiler *c)
{
    int dst = ops_gpr(c, 0), src = ops_gpr(c, 1);
    unsigned bytes = ops_width(c, 0);
    if (ops_is_mem(c, 0) && (src >= 0 || ops_is_imm(c, 1))) {
        ops_memory(c, ops_is_imm(c, 1) ? OPS_WRITE : OPS_STORE, 0,
                   (unsigned)(src < 0 ? OPS_NO_REG : src));
        return true;
    }
    if (dst < 0 || (src < 0 && !ops_is_imm(c, 1) && !ops_is_mem(c, 1)))
        return false;
    if (ops_is_imm(c, 1))
        src = OPS_NO_REG;
    else if (ops_is_mem(c, 1))
        src = ops_value(c, 1, OPS_T0);
    struct op *op = ops_unary(c, OPS_MOVE, dst, src, bytes);
    if (!ops_is_mem(c, 1) && dst != RSP && bytes >= 4)
        op->site = ops_site(c, ops_operand(c, 1));
    return true;
}

bool rule_widens(struct compiler *c)
{
    int dst = ops_gpr(c, 0), src;
    if (dst < 0 || (!ops_is_mem(c, 1) && ops_gpr(c, 1) < 0))
        return false;
    unsigned bytes = ops_width(c, 1), to = ops_width(c, 0);
    src = ops_value(c, 1, OPS_T0);
    bool sign = c->in->mnemonic != ZYDIS_MNEMONIC_MOVZX;
    if (to == 2) /* what is above stays */
        return false;
    ops_unary(c, sign ? OPS_SIGN : OPS_WIDEN, dst, src, bytes)->more = (uint8_t)to;
    return true;
}

/* cwde, cdqe; cdq, cqo */
bool rule_extends(struct compiler *c)
{
    switch (c->in->mnemonic) {
    case ZYDIS_MNEMONIC_CDQE:
        ops_unary(c, OPS_SIGN, RAX, RAX, 4)->more = 8;
        return true;
    case ZYDIS_MNEMONIC_CWDE:
        ops_unary(c, OPS_SIGN, RAX, RAX, 2)->more = 4;
        return true;
    default:
        ops_unary(c, OPS_SPREAD, RDX, RAX, c->in->mnemonic == ZYDIS_MNEMONIC_CQO ? 8 : 4);
        return true;
    }
}

bool rule_pushes(struct compiler *c)
{
    int src = ops_is_imm(c, 0) ? OPS_NO_REG : ops_value(c, 0, OPS_T0);
    if (src < 0 || ops_width(c, 0) == 2)
        return false;
    for (unsigned k = 1; k < c->ops.z.operand_count; k++)
        if (ops_is_mem(c, k))
            ops_memory(c, OPS_STORE, k, (unsigned)src);
    return true;
}

bool rule_pops(struct compiler *c)
{
    int dst = ops_gpr(c, 0);
    if (dst < 0 || dst == RSP || ops_width(c, 0) == 2)
        return false;
    for (unsigned k = 1; k < c->ops.z.operand_count; k++)
        if (ops_is_mem(c, k))
            ops_memory(c, OPS_LOAD, k, OPS_T0);
    ops_unary(c, OPS_MOVE, dst, OPS_T0, 8);
    return true;
}

bool rule_leaves(struct compiler *c)
{
    for (unsigned k = 0; k < c->ops.z.operand_count; k++)
        if (ops_is_mem(c, k))
            ops_memory(c, OPS_LOAD, k, OPS_T0);
    ops_unary(c, OPS_MOVE, RBP, OPS_T0, 8);
    return true;
}

bool rule_exchanges(struct compiler *c)
{
    int a = ops_gpr(c, 0), b = ops_gpr(c, 1);
    unsigned bytes = ops_width(c, 0);
    if (bytes < 4 || (a < 0 && b < 0))
        return false;
    if (a >= 0 && b >= 0) {
        ops_unary(c, OPS_EXCHANGE, a, b, bytes);
        return true;
    }
    unsigned mem = a < 0 ? 0 : 1;
    int reg = a < 0 ? b : a;
    if (!ops_is_mem(c, mem))
        return false;
    ops_memory(c, OPS_LOAD, mem, OPS_T0);
    ops_memory(c, OPS_STORE, mem, (unsigned)reg);
    ops_unary(c, OPS_MOVE, reg, OPS_T0, bytes);
    return true;
}

bool rule_adds_up(struct compiler *c) /* lea */
{
    int dst = ops_gpr(c, 0);
    const ZydisDecodedOperand *m = ops_operand(c, 1);
    unsigned bytes = ops_width(c, 0);
    if (dst < 0 || bytes < 4 || c->ops.z.address_width != 64)
        return false;
    struct op *op = ops_unary(c, OPS_LEA, dst, OPS_NO_REG, bytes);
    op->base = ops_pointer(m->mem.base);
    op->index = ops_pointer(m->mem.index);
    op->more = (uint8_t)(m->mem.scale ? m->mem.scale : 1);
    op->site = dst == RSP || bytes != 8 ? 0 : ops_site(c, m);
    return true;
}

/* ---- arithmetic ---- */

/* What is done with two operands: with a register or memory, and with a constant. */
static const struct arithmetic {
    uint16_t mnemonic;
    uint8_t kind, constant;
    bool compares; /* the result is not kept */
} arithmetic[] = {
    {ZYDIS_MNEMONIC_ADD, OPS_ADD, OPS_ADD_IMM, false},
    {ZYDIS_MNEMONIC_SUB, OPS_SUB, OPS_ADD_IMM, false},
    {ZYDIS_MNEMONIC_CMP, OPS_CMP, OPS_CMP_IMM, true},
    {ZYDIS_MNEMONIC_ADC, OPS_CARRY, OPS_CARRY, false},
    {ZYDIS_MNEMONIC_SBB, OPS_CARRY, OPS_CARRY, false},
    {ZYDIS_MNEMONIC_AND, OPS_AND, OPS_AND_IMM, false},
    {ZYDIS_MNEMONIC_TEST, OPS_TEST, OPS_TEST_IMM, true},
    {ZYDIS_MNEMONIC_OR, OPS_OR, OPS_OR_IMM, false},
    {ZYDIS_MNEMONIC_XOR, OPS_XOR, OPS_OR_IMM, false},
};

static const struct arithmetic *arithmetic_of(uint16_t mnemonic)
{
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (arithmetic[i].mnemonic == mnemonic)
            return &arithmetic[i];
    return NULL;
}

bool rule_computes(struct compiler *c)
{
    const struct arithmetic *a = arithmetic_of(c->in->mnemonic);
    bool mem = ops_is_mem(c, 0), constant = ops_is_imm(c, 1);
    if (!a || (!mem && ops_gpr(c, 0) < 0) || (!constant && !ops_is_mem(c, 1) && ops_gpr(c, 1) < 0))
        return false;
    int dst = ops_value(c, 0, OPS_T0), src = constant ? OPS_NO_REG : ops_value(c, 1, OPS_T1);
    struct op *op =
        ops_unary(c, (enum ops_kind)(constant ? a->constant : a->kind), dst, src, ops_width(c, 0));
    op->imm = constant ? ops_operand(c, 1)->imm.value.u : 0;
    /* xor with a constant turns bits around, and all that were undefined stay so */
    op->more = constant && c->in->mnemonic == ZYDIS_MNEMONIC_XOR;
    op->imm = op->more ? 0 : op->imm;
    if (mem && !a->compares)
        ops_memory(c, OPS_STORE, 0, OPS_T0);
    return true;
}

bool rule_counts(struct compiler *c) /* inc, dec, neg, not */
{
    bool mem = ops_is_mem(c, 0);
    int dst = mem ? OPS_T0 : ops_gpr(c, 0);
    uint16_t m = c->in->mnemonic;
    if (dst < 0)
        return false;
    ops_value(c, 0, OPS_T0);
    struct op *op = ops_unary(c,
                              m == ZYDIS_MNEMONIC_NOT   ? OPS_NOT
                              : m == ZYDIS_MNEMONIC_NEG ? OPS_SUB
                                                        : OPS_ADD_IMM,
                              dst, m == ZYDIS_MNEMONIC_NEG ? OPS_NO_REG : dst, ops_width(c, 0));
    op->flags = m == ZYDIS_MNEMONIC_INC || m == ZYDIS_MNEMONIC_DEC ? FLAG_CF : 0;
    op->more = m == ZYDIS_MNEMONIC_NEG; /* what is left is no pointer */
    if (mem)
        ops_memory(c, OPS_STORE, 0, OPS_T0);
    return true;
}

bool rule_shifts(struct compiler *c)
{
    bool mem = ops_is_mem(c, 0);
    int dst = mem ? OPS_T0 : ops_gpr(c, 0);
    unsigned bits = ops_operand(c, 0)->size;
    uint16_t m = c->in->mnemonic;
    enum ops_kind kind = m == ZYDIS_MNEMONIC_SHL   ? OPS_SHL
                         : m == ZYDIS_MNEMONIC_SHR ? OPS_SHR
                         : m == ZYDIS_MNEMONIC_SAR ? OPS_SAR
                                                   : OPS_ROL;
    if (dst < 0)
        return false;
    ops_value(c, 0, OPS_T0);
    struct op *op = ops_unary(c, ops_is_imm(c, 1) ? kind : OPS_SHIFT, dst, RCX, ops_width(c, 0));
    op->imm = ops_operand(c, 1)->imm.value.u & (bits == 64 ? 63 : 31);
    if (m == ZYDIS_MNEMONIC_ROR)
        op->imm = (bits - op->imm % bits) % bits;
    if (mem)
        ops_memory(c, OPS_STORE, 0, OPS_T0);
    return true;
}

bool rule_multiplies(struct compiler *c)
{
    int dst = ops_gpr(c, 0), src;
    if (c->ops.z.operand_count_visible < 2 || dst < 0 || ops_width(c, 0) < 4)
        return false;
    if (!ops_is_mem(c, 1) && ops_gpr(c, 1) < 0)
        return false;
    src = ops_value(c, 1, OPS_T0);
    if (c->ops.z.operand_count_visible == 3)
        ops_unary(c, OPS_MOVE, dst, src, ops_width(c, 0));
    ops_unary(c, OPS_MUL, dst, src, ops_width(c, 0));
    return true;
}

bool rule_swaps(struct compiler *c)
{
    int dst = ops_gpr(c, 0);
    if (dst < 0)
        return false;
    ops_unary(c, OPS_SWAP, dst, dst, ops_width(c, 0));
    return true;
}

bool rule_tests_bit(struct compiler *c)
{
    int src = ops_gpr(c, 0);
    if (src < 0 || !ops_is_imm(c, 1))
        return false;
    ops_unary(c, OPS_BIT, OPS_NO_REG, src, ops_width(c, 0))->imm =
        ops_operand(c, 1)->imm.value.u % ops_operand(c, 0)->size;
    return true;
}

/* ---- conditions ---- */

bool rule_sets(struct compiler *c)
{
    int dst = ops_gpr(c, 0);
    if (dst < 0)
        return false;
    ops_unary(c, OPS_SET, dst, OPS_NO_REG, 1)->flags = c->in->flags_read;
    return true;
}

bool rule_chooses(struct compiler *c)
{
    int dst = ops_gpr(c, 0), src;
    if (dst < 0 || (!ops_is_mem(c, 1) && ops_gpr(c, 1) < 0))
        return false;
    src = ops_value(c, 1, OPS_T0);
    ops_unary(c, OPS_CHOOSE, dst, src, ops_width(c, 0))->flags = c->in->flags_read;
    return true;
}

bool rule_goes(struct compiler *c)
{
    if (c->in->kind == INSN_JCC) {
        ops_emit(c, OPS_BRANCH)->flags = c->in->flags_read;
        return true;
    }
    if (c->in->kind == INSN_JMP_IND || c->in->kind == INSN_CALL_IND) {
        int src = ops_value(c, 0, OPS_T0);
        if (src >= 0)
            ops_unary(c, OPS_GOES, OPS_NO_REG, src, 8);
    }
    for (unsigned k = 0; k < c->ops.z.operand_count; k++)
        if (ops_is_mem(c, k) && ops_operand(c, k)->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
            ops_memory(c, c->in->kind == INSN_RET ? OPS_READ : OPS_WRITE, k, OPS_NO_REG);
    return true;
}
