/* gen.h - random instruction sequences that end.
 *
 * A sequence is a tree of blocks. A block's items are single random instructions (generic.c) or
 * constructs (constructs.c): branches, loops, functions, flag patterns, stack switches, code that
 * changes itself. What keeps a sequence bounded and inside the sandbox:
 *
 *  1. Only constructs transfer control; forward branches stay inside their block, and a loop or
 *     function is one item of the block around it, so nobody jumps past its setup.
 *  2. Registers that count loops or hold sandbox pointers are reserved: an instruction that writes
 * one (the decoder tells) is not taken.
 *  3. A memory operand gets an address chosen beforehand: its base is pinned, loaded right before
 * it, rip, rsp or an FS/GS base. Unchosen addresses ("wild") are only taken where no return address
 * or writable code can be hit.
 *  4. Return addresses live on the sandbox stack, which only rsp-relative operands reach; inside a
 *     function these keep away from it.
 *
 * A unit is the smallest part that can be left out (replaced by NOPs) without breaking these rules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_GEN_H
#define INSN_GEN_H

#include "rng.h"
#include "sandbox.h"
#include "templates.h"

#define SEQ_MAX_CODE   3072
#define SEQ_SOFT_LIMIT 2000 /* no new items beyond this */
#define SEQ_MAX_INSNS  1536
#define NO_REG         0xff

/* Parts that can be switched off with --without. */
enum feature_bit {
    FEATURE_FAULTS = 1 << 0, /* deliberately bad addresses, privileged and absent instructions */
    FEATURE_GS = 1 << 1,     /* gs: operands; the GS base is 0 */
    FEATURE_FS = 1 << 2,
    FEATURE_SMC = 1 << 3,          /* code that patches itself */
    FEATURE_ALIAS = 1 << 4,        /* code written through a second mapping */
    FEATURE_RWX = 1 << 5,          /* code written in place */
    FEATURE_AC = 1 << 6,           /* the alignment check flag */
    FEATURE_WILDJUMP = 1 << 7,     /* transfers to where no code is */
    FEATURE_NONCANON = 1 << 8,     /* and to non-canonical addresses */
    FEATURE_UNMASKED = 1 << 9,     /* unmasked floating-point exceptions */
    FEATURE_ADDR32 = 1 << 10,      /* address-size prefixes */
    FEATURE_SYSTEM = 1 << 11,      /* privileged instructions */
    FEATURE_ABSENT = 1 << 12,      /* instructions of other CPUs, invalid opcodes */
    FEATURE_FAULT_FLAGS = 1 << 13, /* compare arithmetic flags at a fault: exact mode only */
    FEATURE_ALL = (1 << 14) - 1
};

struct seq_insn {
    uint16_t off, unit;
    uint8_t len;
    bool structural; /* must stay when its unit is masked */
};

struct sequence {
    enum code_area area;
    uint64_t slot, entry;
    uint64_t fsbase;
    size_t size;
    uint8_t code[SEQ_MAX_CODE];
    struct seq_insn insns[SEQ_MAX_INSNS];
    unsigned insn_count, unit_count;
    uint16_t pinned; /* registers with a given start value */
    uint64_t pin_value[16];
    bool unmasked; /* start with floating-point exceptions unmasked */
    uint8_t table[PAGE - TABLE_OFF];
};

/* Make a sequence for `entry` in `area`. Unit numbers start at first_unit. */
struct gen_options {
    unsigned features;
    const struct cpu *cpu;
    enum code_area area;
    uint64_t slot, entry;
    unsigned first_unit;
    bool loops; /* longer loops, and what hotpaths.c makes */
};
void gen_sequence(struct rng *r, const struct gen_options *opt, struct sequence *seq);
/* Just one instruction, the last of the sequence, with the moves in front of it that aim its
 * operands; no way out. */
void gen_single(struct rng *r, const struct gen_options *opt, struct sequence *seq);

/* Replace the instructions of the masked units by NOPs of the same length. */
void gen_apply_mask(struct sequence *seq, const bool *masked, unsigned count);

/* Random start state and memory for a sequence. */
void gen_state(struct rng *r, const struct sequence *seq, struct machine *start);
void gen_init_memory(uint64_t seed); /* once, before gen_memory() */
void gen_memory(struct rng *r, const struct sequence *seq);

#endif
