/* bytecode.c - writes the bytecode of conditions and probes. SPDX-License-Identifier: MIT */
#include "source/bytecode.h"

enum { BYTE_BITS = 8, NEVER = 255 /* values are never on the stack */ };

/* ---- operations ---- */

static void put(struct bytecode *b, uint64_t v, unsigned bytes)
{
    if (b->bytes + bytes > sizeof b->code) {
        b->full = true;
        return;
    }
    while (bytes--)
        b->code[b->bytes++] = (uint8_t)(v >> BYTE_BITS * bytes);
}

void bytecode_op(struct bytecode *b, enum agent_op op)
{
    put(b, op, 1);
}

void bytecode_const(struct bytecode *b, uint64_t v)
{
    bool negative = (int64_t)v < 0 && (int64_t)v >= INT32_MIN;
    uint64_t magnitude = negative ? ~v << 1 : v;
    unsigned size = 0;

    while (size < 3 && magnitude >> (BYTE_BITS << size))
        size++;
    put(b, OP_CONST8 + size, 1);
    put(b, v, 1u << size);
    if (negative && size < 3)
        bytecode_extend(b, BYTE_BITS << size, true);
}

void bytecode_reg(struct bytecode *b, unsigned reg)
{
    put(b, OP_REG, 1);
    put(b, reg, 2);
}

void bytecode_ref(struct bytecode *b, unsigned bytes)
{
    put(b, bytes == 1 ? OP_REF8 : bytes == 2 ? OP_REF16 : bytes == 4 ? OP_REF32 : OP_REF64, 1);
}

void bytecode_extend(struct bytecode *b, unsigned bits, bool is_signed)
{
    put(b, is_signed ? OP_EXT : OP_ZERO_EXT, 1);
    put(b, bits, 1);
}

uint32_t bytecode_jump(struct bytecode *b, enum agent_op op)
{
    put(b, op, 1);
    put(b, 0, 2);
    return b->bytes;
}

void bytecode_land(struct bytecode *b, uint32_t jump)
{
    if (b->full)
        return;
    b->code[jump - 2] = (uint8_t)(b->bytes >> BYTE_BITS);
    b->code[jump - 1] = (uint8_t)b->bytes;
}

/* ---- pieces ---- */

void bytecode_take(struct bytecode *b, uint32_t bytes)
{
    bytecode_const(b, bytes);
    bytecode_op(b, OP_TRACE);
}

void bytecode_take_string(struct bytecode *b, uint32_t most)
{
    bytecode_const(b, most);
    bytecode_op(b, OP_TRACENZ);
}

void bytecode_take_value(struct bytecode *b)
{
    bytecode_op(b, OP_TAKE_VALUE);
}

void bytecode_take_register(struct bytecode *b, unsigned reg)
{
    put(b, OP_TAKE_REGISTER, 1);
    put(b, reg, 2);
}

void bytecode_end(struct bytecode *b)
{
    bytecode_op(b, OP_END);
}

/* ---- terms ---- */

struct writer {
    struct bytecode *b;
    const struct terms *t;
    bool told;
};

static bool write_term(const struct writer *w, struct term x);

static const uint8_t op_of[TERM_OPS] = {
    [TERM_NOT] = OP_LOG_NOT,
    [TERM_BIT_NOT] = OP_BIT_NOT,
    [TERM_ADD] = OP_ADD,
    [TERM_SUB] = OP_SUB,
    [TERM_MUL] = OP_MUL,
    [TERM_DIV_SIGNED] = OP_DIV_SIGNED,
    [TERM_DIV_UNSIGNED] = OP_DIV_UNSIGNED,
    [TERM_REM_SIGNED] = OP_REM_SIGNED,
    [TERM_REM_UNSIGNED] = OP_REM_UNSIGNED,
    [TERM_LSH] = OP_LSH,
    [TERM_RSH_SIGNED] = OP_RSH_SIGNED,
    [TERM_RSH_UNSIGNED] = OP_RSH_UNSIGNED,
    [TERM_BIT_AND] = OP_BIT_AND,
    [TERM_BIT_OR] = OP_BIT_OR,
    [TERM_BIT_XOR] = OP_BIT_XOR,
    [TERM_EQUAL] = OP_EQUAL,
    [TERM_LESS_SIGNED] = OP_LESS_SIGNED,
    [TERM_LESS_UNSIGNED] = OP_LESS_UNSIGNED,
};

/* The frame and what has a fixed address are there. */
static bool is_safe(const struct terms *t, struct term addr)
{
    const struct term_node *node = term_node(t, addr);

    if (node && node->op == TERM_ADD && term_is_number(node->b))
        node = term_node(t, node->a);
    return !node ||
           (node->op == TERM_REGISTER &&
            (node->reg == AGENT_RSP || node->reg == AGENT_RBP || node->reg == AGENT_FS_BASE));
}

static bool write_ref(const struct writer *w, const struct term_node *node)
{
    if (!write_term(w, node->a))
        return false;
    if (w->told && !is_safe(w->t, node->a)) {
        bytecode_op(w->b, OP_DUP);
        bytecode_take(w->b, 0);
    }
    bytecode_ref(w->b, node->bytes);
    return true;
}

/* a && b, a || b, a ? b : c: what is not reached is not computed. */
static bool write_branch(const struct writer *w, const struct term_node *node)
{
    struct bytecode *b = w->b;
    bool choice = node->op == TERM_CHOICE;

    if (!write_term(w, node->a))
        return false;
    uint32_t yes = bytecode_jump(b, OP_IF_GOTO);
    if (node->op == TERM_AND)
        bytecode_const(b, 0);
    else if (!write_term(w, choice ? node->c : node->b))
        return false;
    uint32_t over = bytecode_jump(b, OP_GOTO);
    bytecode_land(b, yes);
    if (node->op == TERM_OR)
        bytecode_const(b, 1);
    else if (!write_term(w, node->b))
        return false;
    bytecode_land(b, over);
    if (!choice) { /* 0 or 1 */
        bytecode_op(b, OP_LOG_NOT);
        bytecode_op(b, OP_LOG_NOT);
    }
    return true;
}

static bool write_node(const struct writer *w, const struct term_node *node)
{
    struct bytecode *b = w->b;

    switch (node->op) {
    case TERM_FAIL:
        put(b, OP_PICK, 1);
        put(b, NEVER, 1);
        return true;
    case TERM_REGISTER:
        bytecode_reg(b, node->reg);
        return true;
    case TERM_REF:
        return write_ref(w, node);
    case TERM_CHOICE:
    case TERM_AND:
    case TERM_OR:
        return write_branch(w, node);
    case TERM_SIGN_EXTEND:
    case TERM_ZERO_EXTEND:
        if (!write_term(w, node->a))
            return false;
        bytecode_extend(b, node->bits, node->op == TERM_SIGN_EXTEND);
        return true;
    default:
        break;
    }
    bool unary = node->op == TERM_NOT || node->op == TERM_BIT_NOT;
    if (!op_of[node->op] || !write_term(w, node->a) || (!unary && !write_term(w, node->b)))
        return false;
    bytecode_op(b, op_of[node->op]);
    return true;
}

static bool write_term(const struct writer *w, struct term x)
{
    if (x.kind == TERM_UNKNOWN)
        return false;
    if (term_is_number(x)) {
        bytecode_const(w->b, x.v);
        return true;
    }
    return w->b->full || write_node(w, term_node(w->t, x)); /* a full one ends the recursion */
}

bool bytecode_term(struct bytecode *b, const struct terms *t, struct term x, bool told)
{
    struct writer w = {b, t, told};

    return !term_is_floating(t, x) && write_term(&w, x);
}
