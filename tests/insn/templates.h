/* templates.h - every instruction encoding the decoder knows, sorted by kind and mnemonic.
 *
 * A template fixes what selects an instruction (encoding, opcode map, opcode, mandatory prefix, W,
 * L, the ModRM.reg that may extend the opcode, memory or register form) and leaves the rest to
 * chance. The table is found by asking Zydis about every combination, so it follows the library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_TEMPLATES_H
#define INSN_TEMPLATES_H

#include <Zydis/Zydis.h>

#include "rng.h"
#include "sandbox.h"

enum encoding { ENC_LEGACY, ENC_VEX, ENC_XOP, ENC_EVEX };
enum form { FORM_NO_MODRM, FORM_MEM, FORM_REG, FORM_FIXED /* all of ModRM selects */ };

struct insn_template {
    uint16_t mnemonic;
    uint8_t encoding, map, opcode, pp, w, l, form, modrm;
    bool any_reg; /* ModRM.reg names an operand */
};

enum group {
    GROUP_INT,
    GROUP_X87,
    GROUP_MMX,
    GROUP_SSE,
    GROUP_VEX,
    GROUP_EVEX,
    GROUP_SYSTEM, /* privileged: a fault */
    GROUP_ABSENT, /* not on this CPU: SIGILL, or executes as something older */
    GROUP_COUNT
};

void templates_init(const struct cpu *cpu);
void templates_detect_cpu(struct cpu *cpu);
/* NULL when the group is empty on this CPU. */
const struct insn_template *templates_pick(struct rng *r, enum group group);
/* Mnemonics no random sequence may execute, with or without operands. */
bool templates_denied(ZydisMnemonic mnemonic);
/* A number for the set of instructions the sequences are made of: other CPUs give other sequences.
 */
uint32_t templates_fingerprint(void);
/* For --stats: how many templates and mnemonics a group has. */
void templates_count(enum group group, unsigned *templates, unsigned *mnemonics);
ZydisMnemonic templates_mnemonic(enum group group, unsigned index);

#endif
