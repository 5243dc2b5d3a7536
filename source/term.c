/* term.c - a 64-bit word that is known, or that can be computed. SPDX-License-Identifier: MIT */
#include "source/term.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { NODES_MOST = 1 << 13, SIZE_MOST = 1 << 20, WORD_BITS = 64 };

void terms_deinit(struct terms *t)
{
    free(t->node);
    *t = (struct terms){0};
}

const struct term_node *term_node(const struct terms *t, struct term x)
{
    return x.kind == TERM_FORMULA ? &t->node[x.node] : NULL;
}

bool term_is_floating(const struct terms *t, struct term x)
{
    const struct term_node *node = term_node(t, x);
    return node && node->floating;
}

/* ---- numbers ---- */

double term_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

uint64_t term_of_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t extended(uint64_t v, unsigned bits, bool is_signed)
{
    if (!bits || bits >= WORD_BITS)
        return v;
    v &= (1ull << bits) - 1;
    return is_signed && v >> (bits - 1) ? v | UINT64_MAX << bits : v;
}

/* The one quotient that is no int64_t wraps. */
static bool divide(enum term_op op, uint64_t a, uint64_t b, uint64_t *v)
{
    if (!b)
        return false;
    if (op == TERM_DIV_UNSIGNED || op == TERM_REM_UNSIGNED)
        *v = op == TERM_DIV_UNSIGNED ? a / b : a % b;
    else if (b == UINT64_MAX)
        *v = op == TERM_DIV_SIGNED ? 0 - a : 0;
    else
        *v = (uint64_t)(op == TERM_DIV_SIGNED ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
    return true;
}

static uint64_t single_bits(double d)
{
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint64_t of_single(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float f;
    memcpy(&f, &word, sizeof f);
    return term_of_double((double)f);
}

static uint64_t of_x87(uint64_t fraction, uint64_t head)
{
    long double l = 0;
    memcpy(&l, &fraction, sizeof fraction);
    memcpy((char *)&l + sizeof fraction, &head, 2);
    return term_of_double((double)l);
}

/* What does not fit is what x86's conversions make of it. */
static uint64_t to_integer(double d, bool is_signed)
{
    const double half = 9223372036854775808.0; /* 2^63 */
    if (d >= -half && d < half)
        return (uint64_t)(int64_t)d;
    return !is_signed && d >= half && d < 2 * half ? (uint64_t)d : 1ull << 63;
}

static bool fold_floats(enum term_op op, uint64_t a, uint64_t b, uint64_t *v)
{
    double x = term_double(a), y = term_double(b);

    switch (op) {
    case TERM_F_ADD:
        *v = term_of_double(x + y);
        return true;
    case TERM_F_SUB:
        *v = term_of_double(x - y);
        return true;
    case TERM_F_MUL:
        *v = term_of_double(x * y);
        return true;
    case TERM_F_DIV:
        *v = term_of_double(x / y);
        return true;
    case TERM_F_EQUAL:
        *v = x == y;
        return true;
    case TERM_F_LESS:
        *v = x < y;
        return true;
    case TERM_F_LESS_EQUAL:
        *v = x <= y;
        return true;
    case TERM_F_OF_SIGNED:
        *v = term_of_double((double)(int64_t)a);
        return true;
    case TERM_F_OF_UNSIGNED:
        *v = term_of_double((double)a);
        return true;
    case TERM_F_TO_SIGNED:
    case TERM_F_TO_UNSIGNED:
        *v = to_integer(x, op == TERM_F_TO_SIGNED);
        return true;
    case TERM_F_OF_SINGLE:
        *v = of_single(a);
        return true;
    case TERM_F_TO_SINGLE:
        *v = single_bits(x);
        return true;
    case TERM_F_OF_X87:
        *v = of_x87(a, b);
        return true;
    default:
        return false;
    }
}

bool term_fold(enum term_op op, unsigned bits, uint64_t a, uint64_t b, uint64_t *v)
{
    switch (op) {
    case TERM_AND:
        *v = a && b;
        return true;
    case TERM_OR:
        *v = a || b;
        return true;
    case TERM_NOT:
        *v = !a;
        return true;
    case TERM_BIT_NOT:
        *v = ~a;
        return true;
    case TERM_SIGN_EXTEND:
    case TERM_ZERO_EXTEND:
        *v = extended(a, bits, op == TERM_SIGN_EXTEND);
        return true;
    case TERM_ADD:
        *v = a + b;
        return true;
    case TERM_SUB:
        *v = a - b;
        return true;
    case TERM_MUL:
        *v = a * b;
        return true;
    case TERM_DIV_SIGNED:
    case TERM_DIV_UNSIGNED:
    case TERM_REM_SIGNED:
    case TERM_REM_UNSIGNED:
        return divide(op, a, b, v);
    case TERM_LSH:
        *v = b < WORD_BITS ? a << b : 0;
        return true;
    case TERM_RSH_SIGNED:
        *v = (uint64_t)((int64_t)a >> (b < WORD_BITS ? b : WORD_BITS - 1));
        return true;
    case TERM_RSH_UNSIGNED:
        *v = b < WORD_BITS ? a >> b : 0;
        return true;
    case TERM_BIT_AND:
        *v = a & b;
        return true;
    case TERM_BIT_OR:
        *v = a | b;
        return true;
    case TERM_BIT_XOR:
        *v = a ^ b;
        return true;
    case TERM_EQUAL:
        *v = a == b;
        return true;
    case TERM_LESS_SIGNED:
        *v = (int64_t)a < (int64_t)b;
        return true;
    case TERM_LESS_UNSIGNED:
        *v = a < b;
        return true;
    default:
        return fold_floats(op, a, b, v);
    }
}

/* ---- formulas ---- */

static uint32_t size_of(const struct terms *t, struct term x)
{
    const struct term_node *node = term_node(t, x);
    return node ? node->size : 1;
}

static struct term add(struct terms *t, struct term_node node)
{
    uint64_t size = 1ull + size_of(t, node.a) + size_of(t, node.b) + size_of(t, node.c);
    bool unary = node.b.kind == TERM_UNKNOWN, leaf = node.a.kind == TERM_UNKNOWN;

    if (t->count == NODES_MOST || size > SIZE_MOST) {
        t->full = true;
        return (struct term){0};
    }
    node.size = (uint32_t)size;
    node.floating = node.op >= TERM_FLOATS || node.op == TERM_VECTOR ||
                    (!leaf && term_is_floating(t, node.a)) ||
                    (!unary && term_is_floating(t, node.b)) || term_is_floating(t, node.c);
    if (array_append(&t->node, &t->count, node)) {
        t->full = true;
        return (struct term){0};
    }
    return (struct term){.kind = TERM_FORMULA, .node = (uint32_t)t->count - 1};
}

struct term term_register(struct terms *t, unsigned reg)
{
    return t ? add(t, (struct term_node){.op = TERM_REGISTER, .reg = (uint16_t)reg})
             : (struct term){0};
}

struct term term_vector(struct terms *t, unsigned reg, unsigned offset, unsigned bytes)
{
    return t ? add(t, (struct term_node){.op = TERM_VECTOR,
                                         .reg = (uint16_t)reg,
                                         .offset = (uint8_t)offset,
                                         .bytes = (uint8_t)bytes})
             : (struct term){0};
}

struct term term_fail(struct terms *t)
{
    return t ? add(t, (struct term_node){.op = TERM_FAIL}) : (struct term){0};
}

/* A size that no register has is put together from parts. */
struct term term_ref(struct terms *t, struct term addr, unsigned bytes)
{
    struct term whole = {0};

    if (!t || addr.kind == TERM_UNKNOWN || !bytes || bytes > sizeof addr.v)
        return (struct term){0};
    for (unsigned at = 0, part; at < bytes; at += part) {
        for (part = sizeof addr.v; part > bytes - at; part /= 2)
            ;
        struct term here = term_op(t, TERM_ADD, addr, term_number(at));
        here = add(t, (struct term_node){.op = TERM_REF, .bytes = (uint8_t)part, .a = here});
        here = at ? term_op(t, TERM_LSH, here, term_number(8 * at)) : here;
        whole = at ? term_op(t, TERM_BIT_OR, whole, here) : here;
    }
    return whole;
}

static bool is_unary(enum term_op op)
{
    return op == TERM_NOT || op == TERM_BIT_NOT || op == TERM_SIGN_EXTEND ||
           op == TERM_ZERO_EXTEND || (op >= TERM_F_OF_SIGNED && op <= TERM_F_TO_SINGLE);
}

/* x + m + n is x + (m + n): members of members, elements of members. */
static struct term add_number(struct terms *t, struct term a, uint64_t n)
{
    const struct term_node *node = term_node(t, a);

    if (!n)
        return a;
    if (node && node->op == TERM_ADD && term_is_number(node->b))
        return term_op(t, TERM_ADD, node->a, term_number(node->b.v + n));
    return add(t, (struct term_node){.op = TERM_ADD, .a = a, .b = term_number(n)});
}

struct term term_op(struct terms *t, enum term_op op, struct term a, struct term b)
{
    uint64_t v;

    if (is_unary(op))
        b = term_number(0);
    if (a.kind == TERM_UNKNOWN || b.kind == TERM_UNKNOWN)
        return (struct term){0};
    if (term_is_number(a) && term_is_number(b))
        return term_fold(op, 0, a.v, b.v, &v) ? term_number(v) : (struct term){0};
    if (op == TERM_ADD && term_is_number(a))
        return add_number(t, b, a.v);
    if (op == TERM_ADD && term_is_number(b))
        return add_number(t, a, b.v);
    return add(t, (struct term_node){.op = (uint8_t)op, .a = a, .b = b});
}

struct term term_choice(struct terms *t, struct term when, struct term a, struct term b)
{
    if (term_is_number(when))
        return when.v ? a : b;
    if (when.kind == TERM_UNKNOWN || a.kind == TERM_UNKNOWN || b.kind == TERM_UNKNOWN)
        return (struct term){0};
    return add(t, (struct term_node){.op = TERM_CHOICE, .a = when, .b = a, .c = b});
}

struct term term_extend(struct terms *t, struct term a, unsigned bits, bool is_signed)
{
    enum term_op op = is_signed ? TERM_SIGN_EXTEND : TERM_ZERO_EXTEND;

    if (!bits || bits >= WORD_BITS || a.kind == TERM_UNKNOWN)
        return a;
    if (term_is_number(a))
        return term_number(extended(a.v, bits, is_signed));
    const struct term_node *node = term_node(t, a);
    bool cut =
        (node->op == TERM_REF && 8u * node->bytes == bits) ||
        ((node->op == TERM_SIGN_EXTEND || node->op == TERM_ZERO_EXTEND) && node->bits == bits);
    if (cut && (node->op == op || (node->op == TERM_REF && !is_signed)))
        return a;
    return add(t, (struct term_node){
                      .op = (uint8_t)op, .bits = (uint8_t)bits, .a = a, .b = term_number(0)});
}
