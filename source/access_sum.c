/* access_sum.c - what the address of an operand was made of.
 *
 * SPDX-License-Identifier: MIT
 *
 * A register's value is that of the variable which lives there, or what the last instruction that
 * set it made, if there is only one way from there: a sum of variables, each some times, and a
 * constant. Widths are not looked at: an index that was extended is the same index.
 */
#include <string.h>

#include "source/access_int.h"
#include "source/frame.h"
#include "source/registers.h"
#include "source/variable.h"

enum { BACK_MOST = 64 }; /* instructions that are passed over */

static bool register_sum(struct access_walk *w, gaddr pc, int reg, struct access_sum *out);

static bool add(struct access_sum *to, const struct access_sum *x, int64_t times)
{
    if ((to->base && x->base) || (x->base && times != 1) || to->terms + x->terms > ACCESS_TERMS)
        return false;
    to->base = x->base ? x->base : to->base;
    to->constant += x->constant * times;
    for (unsigned i = 0; i < x->terms; i++) {
        to->term[to->terms] = x->term[i];
        to->term[to->terms++].times *= times;
    }
    return true;
}

static bool add_register(struct access_walk *w, gaddr pc, ZydisRegister reg, int64_t times,
                         struct access_sum *out)
{
    struct access_sum x;
    int n = reg == ZYDIS_REGISTER_NONE ? 0 : insn_gpr_number(reg);
    return reg == ZYDIS_REGISTER_NONE ||
           (n >= 0 && register_sum(w, pc, n, &x) && add(out, &x, times));
}

bool access_address(struct access_walk *w, const struct insn *in, const ZydisDecodedOperand *op,
                    struct access_sum *out)
{
    *out = (struct access_sum){.constant = op->mem.disp.value};
    if (in->rip_relative) {
        out->base = ACCESS_FIXED;
        out->constant = (int64_t)in->target;
        return true;
    }
    if (in->addr32 || op->mem.segment == ZYDIS_REGISTER_GS)
        return false;
    if (op->mem.segment == ZYDIS_REGISTER_FS)
        out->base = ACCESS_THREAD;
    else if (op->mem.base == ZYDIS_REGISTER_NONE)
        out->base = ACCESS_FIXED; /* a table of a program that is not moved */
    return add_register(w, in->pc, op->mem.base, 1, out) &&
           add_register(w, in->pc, op->mem.index, op->mem.scale, out);
}

/* What memory holds is a term, by its name. */
static bool load(struct access_walk *w, const struct insn *in, const ZydisDecodedOperand *op,
                 struct access_sum *out)
{
    struct access_sum at;
    if (!access_address(w, in, op, &at))
        return false;
    *out = (struct access_sum){.terms = 1};
    if (at.base == ACCESS_THREAD && !at.terms && !at.constant) {
        *out = at; /* where the FS base has its own address */
        return true;
    }
    out->term[0].times = 1;
    return access_name(w, in->pc, &at, op->size / 8u, out->term[0].text, &out->term[0].type);
}

static bool operand_sum(struct access_walk *w, const struct insn *in, const ZydisDecodedOperand *op,
                        struct access_sum *out)
{
    switch (op->type) {
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        *out = (struct access_sum){.constant = op->imm.value.s};
        return true;
    case ZYDIS_OPERAND_TYPE_REGISTER:
        return insn_gpr_number(op->reg.value) >= 0 &&
               register_sum(w, in->pc, insn_gpr_number(op->reg.value), out);
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return load(w, in, op, out);
    default:
        return false;
    }
}

static bool scale(struct access_sum *x, int64_t times)
{
    const struct access_sum from = *x;
    *x = (struct access_sum){0};
    return add(x, &from, times);
}

/* The register that it sets has this value behind it. */
static bool result_sum(struct access_walk *w, const struct insn *in,
                       const struct insn_operands *ops, struct access_sum *out)
{
    const ZydisDecodedOperand *op = ops->op;
    struct access_sum x;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVZX:
        return operand_sum(w, in, &op[1], out);
    case ZYDIS_MNEMONIC_CDQE:
        return register_sum(w, in->pc, RAX, out);
    case ZYDIS_MNEMONIC_LEA:
        return access_address(w, in, &op[1], out);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return operand_sum(w, in, &op[0], out) && operand_sum(w, in, &op[1], &x) &&
               add(out, &x, in->mnemonic == ZYDIS_MNEMONIC_ADD ? 1 : -1);
    case ZYDIS_MNEMONIC_SHL:
        return op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.u < 32 &&
               operand_sum(w, in, &op[0], out) && scale(out, 1ll << op[1].imm.value.u);
    case ZYDIS_MNEMONIC_IMUL:
        return ops->z.operand_count_visible == 3 && operand_sum(w, in, &op[1], out) &&
               scale(out, op[2].imm.value.s);
    case ZYDIS_MNEMONIC_XOR:
        *out = (struct access_sum){0};
        return op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value;
    default:
        return false;
    }
}

static bool sets(const struct insn_operands *ops, int reg)
{
    for (unsigned i = 0; i < ops->z.operand_count; i++)
        if (ops->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (ops->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            insn_gpr_number(ops->op[i].reg.value) == reg)
            return true;
    return false;
}

static bool survives_calls(int reg)
{
    return reg == RBX || reg == RBP || reg >= R12;
}

/* By the instruction that set it. */
static bool search(struct access_walk *w, gaddr pc, int reg, struct access_sum *out)
{
    struct insn in;
    struct insn_operands ops;
    for (unsigned i = 0; i < BACK_MOST && access_code_before(&w->code, pc, &in); i++, pc = in.pc) {
        bool call = in.kind == INSN_CALL || in.kind == INSN_CALL_IND;
        if (in.kind != INSN_PLAIN && in.kind != INSN_JCC && !call)
            return false;
        if (call && !survives_calls(reg))
            return false;
        insn_operands(&in, &ops);
        if (!call && sets(&ops, reg))
            return ops.op[0].size >= 32 && result_sum(w, &in, &ops, out);
    }
    return false;
}

static bool register_sum(struct access_walk *w, gaddr pc, int reg, struct access_sum *out)
{
    struct source_cfa cfa;
    int number = registers_number(loc_gpr((unsigned)reg));
    *out = (struct access_sum){0};
    if (w->depth == ACCESS_DEPTH)
        return false;
    if (source_cfa(w->s, pc, &cfa) && cfa.reg == number) {
        *out = (struct access_sum){.base = ACCESS_FRAME, .constant = -cfa.offset};
        return true;
    }
    if (reg == RSP)
        return false;
    const char *name = source_register_typed(w->s, pc, (unsigned)number, &out->term[0].type);
    if (name && strlen(name) < ACCESS_TEXT) {
        strcpy(out->term[0].text, name);
        out->term[0].times = 1;
        out->terms = 1;
        return true;
    }
    w->depth++;
    bool found = search(w, pc, reg, out);
    w->depth--;
    return found;
}
