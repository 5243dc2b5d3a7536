/* ops_int.h - what the files that compile operations share. SPDX-License-Identifier: MIT */
#ifndef FACTS_HEAP_OPS_INT_H
#define FACTS_HEAP_OPS_INT_H

#include "facts/heap/ops.h"

/* An instruction that is compiled. */
struct compiler {
    const struct code_block *b;
    unsigned i; /* instruction */
    const struct insn *in;
    struct insn_operands ops;
    struct ops *out;
    const struct ops_sites *sites;
    bool failed; /* no memory */
};

struct op *ops_emit(struct compiler *c, enum ops_kind kind);

/* ---- operands, by their numbers ---- */

static inline const ZydisDecodedOperand *ops_operand(const struct compiler *c, unsigned k)
{
    return &c->ops.op[k];
}

static inline bool ops_is_imm(const struct compiler *c, unsigned k)
{
    return k < c->ops.z.operand_count && ops_operand(c, k)->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static inline bool ops_is_mem(const struct compiler *c, unsigned k)
{
    return k < c->ops.z.operand_count && ops_operand(c, k)->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static inline unsigned ops_width(const struct compiler *c, unsigned k)
{
    return ops_operand(c, k)->size / 8;
}

/* A general register, in its low bytes; a vector register. -1: it is none. */
int ops_gpr(const struct compiler *c, unsigned k);
int ops_vec(const struct compiler *c, unsigned k);

/* The access of an operand; PLAN_NONE: it has none that is told by slots. */
uint16_t ops_access(const struct compiler *c, unsigned k);
/* The number of a register in an address. */
uint8_t ops_pointer(ZydisRegister r);
/* The site of an address: a memory operand's, or a register or constant that is moved. */
uint16_t ops_site(const struct compiler *c, const ZydisDecodedOperand *op);
void ops_aim(struct compiler *c, struct op *op, uint16_t access);
struct op *ops_memory(struct compiler *c, enum ops_kind kind, unsigned k, unsigned reg);
/* The register that has an operand's value; memory is read into a temporary one. -1: none. */
int ops_value(struct compiler *c, unsigned k, unsigned temporary);
struct op *ops_unary(struct compiler *c, enum ops_kind kind, int dst, int src, unsigned bytes);

/* ---- rules ---- */

typedef bool rule(struct compiler *c); /* false: it does not fit, the default is used */

/* ops_rules.c: general registers, conditions, jumps. ops_vectors.c: vectors. */
rule rule_rule, rule_moves, rule_widens, rule_extends, rule_pushes, rule_pops, rule_leaves,
    rule_exchanges, rule_adds_up, rule_computes, rule_counts, rule_shifts, rule_multiplies,
    rule_swaps, rule_tests_bit, rule_sets, rule_chooses, rule_moves_vector, rule_joins, rule_mixes,
    rule_adds_vectors, rule_slides, rule_compares_vector, rule_converts, rule_goes;

/* ops_stack.c: the instruction's part in where the stack pointer is. */
void ops_follow_stack(struct compiler *c);

#endif
