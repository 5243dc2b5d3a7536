/* ops_stack.c - how a block moves the stack pointer. SPDX-License-Identifier: MIT */
#include "facts/heap/ops_int.h"
#include "trace/access.h"

/* The bytes that rsp moves by; false: it is not known. */
static bool moved(const struct compiler *c, int64_t *by)
{
    const struct code_insn *ci = &c->b->insn[c->i];
    uint16_t m = c->in->mnemonic;
    *by = 0;
    for (unsigned k = 0; k < c->ops.z.operand_count; k++) {
        const ZydisDecodedOperand *op = ops_operand(c, k);
        if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || insn_gpr_number(op->reg.value) != RSP ||
            !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        if (k == 0 && (m == ZYDIS_MNEMONIC_ADD || m == ZYDIS_MNEMONIC_SUB) && ops_is_imm(c, 1)) {
            *by = m == ZYDIS_MNEMONIC_ADD ? ops_operand(c, 1)->imm.value.s
                                          : -ops_operand(c, 1)->imm.value.s;
            return true;
        }
        if (m == ZYDIS_MNEMONIC_LEA && ops_operand(c, 1)->mem.base == ZYDIS_REGISTER_RSP &&
            ops_operand(c, 1)->mem.index == ZYDIS_REGISTER_NONE) {
            *by = ops_operand(c, 1)->mem.disp.value;
            return true;
        }
        if (op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN || m == ZYDIS_MNEMONIC_LEAVE ||
            m == ZYDIS_MNEMONIC_ENTER || !ci->accesses)
            return false;
        for (unsigned i = 0; i < ci->accesses; i++) {
            const struct plan_access *a = &c->b->access[ci->access_at + i];
            const ZydisDecodedOperand *x = ops_operand(c, a->mem.op);
            if (x->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                x->mem.base == ZYDIS_REGISTER_RSP)
                *by = a->mem.write ? -(int64_t)a->mem.bytes : (int64_t)a->mem.bytes;
        }
        *by += c->in->kind == INSN_RET ? c->in->imm16 : 0;
        return *by != 0;
    }
    return true;
}

/* Does an access say where the stack pointer is behind the instruction? */
static uint16_t telling(const struct compiler *c, int64_t by, int64_t *from)
{
    const struct code_insn *ci = &c->b->insn[c->i];
    for (uint16_t i = 0; i < ci->accesses; i++) {
        const struct plan_access *a = &c->b->access[ci->access_at + i];
        const ZydisDecodedOperand *x = ops_operand(c, a->mem.op);
        if (access_is_odd(a) || a->slot == PLAN_NONE || a->mem.shape != ACCESS_PLAIN)
            continue;
        if (c->in->mnemonic == ZYDIS_MNEMONIC_LEAVE) {
            *from = 8;
            return (uint16_t)(ci->access_at + i);
        }
        if (x->mem.base != ZYDIS_REGISTER_RSP || x->mem.index != ZYDIS_REGISTER_NONE ||
            x->mem.segment == ZYDIS_REGISTER_FS)
            continue;
        *from = by - x->mem.disp.value - a->mem.moved;
        return (uint16_t)(ci->access_at + i);
    }
    return PLAN_NONE;
}

void ops_follow_stack(struct compiler *c)
{
    struct ops_stack *s = &c->out->stack;
    int64_t by, from;
    bool known = moved(c, &by);
    uint16_t access =
        known || c->in->mnemonic == ZYDIS_MNEMONIC_LEAVE ? telling(c, by, &from) : PLAN_NONE;
    if (!known) {
        s->lost = true;
        s->other |= c->in->mnemonic != ZYDIS_MNEMONIC_LEAVE &&
                    !(c->in->mnemonic == ZYDIS_MNEMONIC_LEA &&
                      ops_operand(c, 1)->mem.base == ZYDIS_REGISTER_RBP) &&
                    !(c->in->mnemonic == ZYDIS_MNEMONIC_MOV && ops_gpr(c, 1) == RBP) &&
                    c->in->mnemonic != ZYDIS_MNEMONIC_AND && c->in->mnemonic != ZYDIS_MNEMONIC_SUB;
        s->least = 0;
    }
    s->end += by;
    s->least -= by;
    if (access != PLAN_NONE) {
        s->access = access;
        s->end = from;
        s->lost = false;
    }
    s->least = s->least > 0 ? 0 : s->least;
}
