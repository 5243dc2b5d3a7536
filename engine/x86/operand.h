/* operand.h - addresses of memory operands. SPDX-License-Identifier: MIT */
#ifndef ENGINE_X86_OPERAND_H
#define ENGINE_X86_OPERAND_H

#include "engine/x86/cpu.h"
#include "engine/x86/insn.h"

/* The linear address of memory operand `op`, with the registers as before the instruction. Vector
 * indices (gathers) are not resolved: the base alone counts. */
struct segments {
    uint64_t fs, gs;
};
gaddr operand_address(const struct insn *in, const ZydisDecodedOperand *op,
                      const struct cpu_state *cpu, struct segments seg);

#endif
