/* operand.c - addresses of memory operands. SPDX-License-Identifier: MIT */
#include "engine/x86/operand.h"

static uint64_t value(ZydisRegister reg, const struct cpu_state *cpu)
{
    int n = insn_gpr_number(reg);
    return n < 0 ? 0 : cpu->gpr[n];
}

gaddr operand_address(const struct insn *in, const ZydisDecodedOperand *op,
                      const struct cpu_state *cpu, struct segments seg)
{
    gaddr addr;
    if (op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP)
        addr = in->target;
    else
        addr = value(op->mem.base, cpu) + value(op->mem.index, cpu) * op->mem.scale +
               (uint64_t)op->mem.disp.value;
    if (in->addr32 && op->mem.base != ZYDIS_REGISTER_RSP) /* the stack of push is not cut */
        addr = (uint32_t)addr;
    /* Zydis 4.0 gives movdir64b's destination the prefix of its source. */
    if (in->mnemonic == ZYDIS_MNEMONIC_MOVDIR64B &&
        op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        return addr;
    if (op->mem.segment == ZYDIS_REGISTER_FS)
        addr += seg.fs;
    else if (op->mem.segment == ZYDIS_REGISTER_GS)
        addr += seg.gs;
    return addr;
}
