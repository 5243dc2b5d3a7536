/* term.h - a 64-bit word that is known, or that can be computed from registers and memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * Expressions (expression.h) and locations (dwarf_expr.c) calculate with terms. Where registers and
 * memory are known every term is a number. Where a program is only about to come by (compile.h)
 * what is not a number is a formula, made here and turned into bytecode; without `struct terms` to
 * keep formulas in it is unknown, and so is all that is made from it.
 *
 * A floating point value is a word, too: a double's bits. The bytecode does not calculate with
 * these: such terms are left for the reader of what was taken (term_fold()).
 */
#ifndef SOURCE_TERM_H
#define SOURCE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum term_kind { TERM_UNKNOWN, TERM_NUMBER, TERM_FORMULA };

struct term {
    uint8_t kind;
    uint32_t node; /* of a formula */
    uint64_t v;    /* of a number */
};

enum term_op {
    TERM_FAIL, /* there is no value: of an entry value, if the caller is not known */
    TERM_REGISTER,
    TERM_VECTOR, /* `bytes` bytes of a register that is no number, from `offset` on */
    TERM_REF,    /* `bytes` bytes at a, zero-extended */
    TERM_CHOICE, /* a ? b : c */
    TERM_AND,    /* logical; b is computed only if a does not decide */
    TERM_OR,
    /* of one */
    TERM_NOT,
    TERM_BIT_NOT,
    TERM_SIGN_EXTEND, /* of `bits` bits */
    TERM_ZERO_EXTEND,
    /* of two */
    TERM_ADD,
    TERM_SUB,
    TERM_MUL,
    TERM_DIV_SIGNED,
    TERM_DIV_UNSIGNED,
    TERM_REM_SIGNED,
    TERM_REM_UNSIGNED,
    TERM_LSH,
    TERM_RSH_SIGNED,
    TERM_RSH_UNSIGNED,
    TERM_BIT_AND,
    TERM_BIT_OR,
    TERM_BIT_XOR,
    TERM_EQUAL,
    TERM_LESS_SIGNED,
    TERM_LESS_UNSIGNED,
    /* of doubles; the bytecode has none of these */
    TERM_FLOATS,
    TERM_F_ADD = TERM_FLOATS,
    TERM_F_SUB,
    TERM_F_MUL,
    TERM_F_DIV,
    TERM_F_EQUAL,
    TERM_F_LESS,
    TERM_F_LESS_EQUAL,
    TERM_F_OF_SIGNED, /* conversions, of one */
    TERM_F_OF_UNSIGNED,
    TERM_F_TO_SIGNED,
    TERM_F_TO_UNSIGNED,
    TERM_F_OF_SINGLE, /* a float's bits */
    TERM_F_TO_SINGLE,
    TERM_F_OF_X87, /* of two: fraction, sign and exponent */
    TERM_OPS
};

struct term_node {
    uint8_t op;
    uint8_t bytes;  /* of TERM_REF, TERM_VECTOR */
    uint8_t bits;   /* of extensions */
    uint8_t offset; /* of TERM_VECTOR */
    bool floating;  /* it, or a part of it, is none of the bytecode's numbers */
    uint16_t reg;   /* as the bytecode numbers it (debug/bytecode.h) */
    uint32_t size;  /* nodes that it is made of, those it uses twice counted twice */
    struct term a, b, c;
};

/* {0} is empty. */
struct terms {
    struct term_node *node;
    size_t count;
    bool full; /* one was not kept: it is unknown */
};

void terms_deinit(struct terms *t);

static inline struct term term_number(uint64_t v)
{
    return (struct term){.kind = TERM_NUMBER, .v = v};
}

static inline bool term_is_number(struct term x)
{
    return x.kind == TERM_NUMBER;
}

/* `t` may be NULL in all of these. Numbers are calculated at once; a division by zero is unknown.
 */
struct term term_register(struct terms *t, unsigned reg);
struct term term_vector(struct terms *t, unsigned reg, unsigned offset, unsigned bytes);
struct term term_ref(struct terms *t, struct term addr, unsigned bytes);
struct term term_fail(struct terms *t);
struct term term_op(struct terms *t, enum term_op op, struct term a, struct term b);
struct term term_choice(struct terms *t, struct term when, struct term a, struct term b);
/* Cut to so many bits, and extended. */
struct term term_extend(struct terms *t, struct term a, unsigned bits, bool is_signed);

/* What an operation makes from numbers; false: it cannot be, or it is none of numbers alone. */
bool term_fold(enum term_op op, unsigned bits, uint64_t a, uint64_t b, uint64_t *v);

/* A formula's node, or NULL. */
const struct term_node *term_node(const struct terms *t, struct term x);
bool term_is_floating(const struct terms *t, struct term x);

double term_double(uint64_t bits);
uint64_t term_of_double(double d);

#endif
