/* accesses.c - the memory that an instruction touches. SPDX-License-Identifier: MIT */
#include "engine/x86/accesses.h"

/* Memory that is named but not touched. */
static bool only_names(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
    return op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || z->mnemonic == ZYDIS_MNEMONIC_NOP ||
           z->meta.category == ZYDIS_CATEGORY_PREFETCH ||
           z->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static bool is_repeated(const ZydisDecodedInstruction *z)
{
    return z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

bool accesses_string(const struct insn_operands *ops)
{
    return ops->z.meta.category == ZYDIS_CATEGORY_STRINGOP || is_repeated(&ops->z);
}

static bool is_state(ZydisMnemonic m)
{
    switch (m) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        return true;
    default:
        return false;
    }
}

static bool is_masked(const struct insn_operands *ops)
{
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return true;
    default:
        return ops->z.avx.mask.reg != ZYDIS_REGISTER_NONE &&
               ops->z.avx.mask.reg != ZYDIS_REGISTER_K0;
    }
}

static enum access_shape shape(const struct insn_operands *ops, const ZydisDecodedOperand *op)
{
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_XLAT:
        return ACCESS_TABLE;
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
        return ops->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? ACCESS_BITS : ACCESS_PLAIN;
    default:
        if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return ACCESS_VECTOR;
        if (accesses_string(ops))
            return ACCESS_STRING;
        if (is_state(ops->z.mnemonic))
            return ACCESS_STATE;
        return is_masked(ops) ? ACCESS_MASKED : ACCESS_PLAIN;
    }
}

static int16_t moved(const struct insn_operands *ops, const ZydisDecodedOperand *op)
{
    int16_t bytes = (int16_t)(op->size / 8);
    if (ops->z.mnemonic == ZYDIS_MNEMONIC_MOVDIR64B)
        return 0; /* its hidden operand may have rsp as base, and pushes nothing */
    if (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_ESP)
        return 0;
    if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        return op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? (int16_t)-bytes : 0;
    return ops->z.mnemonic == ZYDIS_MNEMONIC_POP ? bytes : 0;
}

int accesses_of(const struct insn *in, const struct insn_operands *ops,
                struct mem_access out[ACCESSES_MOST])
{
    int n = 0;
    if (in->kind == INSN_ILLEGAL)
        return 0;
    for (int i = 0; i < ops->z.operand_count && n < ACCESSES_MOST; i++) {
        const ZydisDecodedOperand *op = &ops->op[i];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || only_names(&ops->z, op))
            continue;
        out[n++] = (struct mem_access){.op = (uint8_t)i,
                                       .shape = (uint8_t)shape(ops, op),
                                       .read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
                                       .write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
                                       .repeats = is_repeated(&ops->z),
                                       .bytes = op->size / 8,
                                       .moved = moved(ops, op)};
    }
    return n;
}
