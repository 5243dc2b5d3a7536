/* plan.h - which values of a block have to be seen to know all its addresses.
 *
 * SPDX-License-Identifier: MIT
 *
 * A traced block writes down a few words each time it is executed: its *slots*. Most are a
 * register's value, from which the addresses of several accesses follow: registers are followed
 * through the block as far as constants are added to them. Operands without a register need none.
 *
 * The code that writes the words (engine/core/flow.c) and the code that reads them (trace/) make
 * the same plan with this function, from the same instructions.
 */
#ifndef ENGINE_X86_PLAN_H
#define ENGINE_X86_PLAN_H

#include "engine/x86/accesses.h"

enum plan_kind {
    PLAN_REG,     /* a general register */
    PLAN_ADDRESS, /* an operand's address */
    PLAN_TOP,     /* x87's status word: TOP */
    PLAN_STACK,   /* rsp, which was set in a way that is not followed: another stack, longjmp */
};

struct plan_slot {
    uint8_t insn;
    uint8_t kind; /* enum plan_kind */
    uint8_t what; /* register or operand */
    bool after;   /* the instruction; else before it */
};

enum { PLAN_NONE = 0xffff };

struct plan_access {
    struct mem_access mem;
    uint8_t insn;
    uint16_t slot;  /* address = its word + add; PLAN_NONE: add alone */
    uint16_t count; /* xlat: slot with rax; bt: with the bit number; rep: with the pointer (rdi, or
                       rsi of lods) behind the instruction: how often, and in which direction */
    uint16_t pointer; /* rep: the access whose pointer that is */
    int64_t add;
};

enum { PLAN_INSNS = 64, PLAN_SLOTS = 4 * PLAN_INSNS, PLAN_ACCESSES = 3 * PLAN_INSNS };

struct plan {
    uint16_t slots, accesses;
    struct plan_slot slot[PLAN_SLOTS];
    struct plan_access access[PLAN_ACCESSES];
};

/* At most PLAN_INSNS instructions, executed one after the other. */
void plan_block(const struct insn *insn, int count, struct plan *out);

/* Does gs or an element's index have a say in the address? Such accesses have no slot: the runtime
 * must look at them each time. */
bool plan_odd(const struct insn *in, const struct insn_operands *ops, const struct mem_access *m);

#endif
