/* insn.h - what the engine knows about one instruction.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thin, compact view over Zydis, the one source of instruction knowledge: length, how control
 * leaves it, which arithmetic flags it surely writes and may read, and where the bytes sit that a
 * copy at another address has to patch. The memo (memo.h) remembers its answer for all other
 * instructions of the same form. Operands cost more, so they are decoded only on demand
 * (insn_operands). Callers inside the target hold the baton.
 */
#ifndef ENGINE_X86_INSN_H
#define ENGINE_X86_INSN_H

#include <Zydis/Zydis.h>

#include "engine/rt/types.h"

enum { INSN_MAX_BYTES = 15 };

/* How an instruction leaves, and whether a copy of it can run in the code cache. */
enum insn_kind {
    INSN_PLAIN,    /* copied, perhaps with a patched operand */
    INSN_JMP,      /* direct */
    INSN_JCC,      /* direct, conditional on flags */
    INSN_JCXZ,     /* direct, conditional on rcx: jrcxz, jecxz, loop, loope, loopne */
    INSN_CALL,     /* direct */
    INSN_JMP_IND,  /* through a register or memory */
    INSN_CALL_IND, /* through a register or memory */
    INSN_RET,      /* near, perhaps with an immediate */
    INSN_SYSCALL,
    INSN_EMULATE, /* its effect is the engine's to see: rdtsc, cpuid, xsave, pause, ... */
    INSN_TRAP,    /* int3, int1, ud2 and friends: copied, always raises a signal */
    INSN_UNSUPPORTED,
    INSN_ILLEGAL, /* no instruction known to the decoder */
};

struct insn {
    gaddr pc;
    gaddr target;   /* direct transfers: where to; rip-relative operands: the address */
    uint16_t imm16; /* ret imm16 */
    uint8_t bytes[INSN_MAX_BYTES]; /* behind `len`: anything */
    /* From here on: the same for all values of displacement and immediate. */
    uint16_t gprs_read; /* general registers that matter to it, one bit each */
    uint16_t gprs_kill; /* ... that it sets, all of them, and does not look at */
    /* From here on: the form, the same for most registers, too. */
    uint16_t flags_read; /* arithmetic flags that it may read */
    uint16_t flags_kill; /* arithmetic flags that it surely overwrites */
    uint16_t mnemonic;   /* ZydisMnemonic */
    uint8_t kind;        /* enum insn_kind */
    uint8_t len;
    uint8_t opcode;
    uint8_t modrm_at;  /* offset of ModRM, 0 if none */
    uint8_t prefix_at; /* offset of REX, VEX, EVEX or XOP, 0xff if none */
    uint8_t value_at;  /* offset of what target or imm16 is computed from, ... */
    uint8_t value_len; /* ... and its length, 0 if there is none */
    uint8_t encoding;  /* ZydisInstructionEncoding */
    uint8_t isa;       /* ZydisISAExt */
    bool rip_relative;
    bool gs_relative;
    bool addr32; /* address-size prefix */
    bool too_long;
};

struct insn_operands {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* The extensions of isa.def that translated code has used, one bit each. */
extern uint64_t insn_isa_used;
void insn_note_isa(const struct insn *in);

void insn_init(void); /* once, before the first decode */

/* Called around every use of the library, if set: Debian's libZydis uses xmm registers and reads a
 * stack canary through FS, which in a target are not ours. */
struct insn_guard {
    void (*enter)(void), (*leave)(void);
};
extern struct insn_guard insn_guard;

/* Decodes at most `avail` bytes. Returns 0, or -1 when the bytes end before the instruction does
 * (then *in is not to be used). Bytes that are no instruction give kind INSN_ILLEGAL and length 1.
 */
int insn_decode(struct insn *in, gaddr pc, const uint8_t *bytes, size_t avail);

/* The same without memory: always asks the library. *head gets the number of bytes that decide the
 * form, 0 if that is not so simple. */
int insn_ask(struct insn *in, gaddr pc, const uint8_t *bytes, size_t avail, size_t *head);

/* All operands, hidden ones too. The instruction must have decoded. */
void insn_operands(const struct insn *in, struct insn_operands *out);

/* General registers that the instruction mentions in any way, one bit each. */
uint32_t insn_gprs(const struct insn_operands *ops);

/* Number of a general register, any width; -1 for others. */
int insn_gpr_number(ZydisRegister reg);

const char *insn_name(const struct insn *in);

/* Does it read and write memory in one step for all processors: a LOCK prefix, or xchg? */
bool insn_locks(const struct insn *in);

/* An INSN_EMULATE that is a far return, iret or jump goes somewhere, be it to the next one. */
static inline bool insn_goes_far(const struct insn *in)
{
    return in->mnemonic == ZYDIS_MNEMONIC_RET || in->mnemonic == ZYDIS_MNEMONIC_IRETQ ||
           in->mnemonic == ZYDIS_MNEMONIC_IRETD || in->mnemonic == ZYDIS_MNEMONIC_JMP;
}

/* Ends a basic block? */
static inline bool insn_ends_block(const struct insn *in)
{
    return in->kind != INSN_PLAIN;
}

#endif
