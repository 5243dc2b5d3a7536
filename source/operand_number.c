/* operand_number.c - arithmetic of expressions, as C has it. SPDX-License-Identifier: MIT */
#include <string.h>

#include "source/operand.h"

enum { INT_BYTES = 4, LONG_BYTES = 8 };

struct operand operand_integer(uint64_t v, bool is_signed, unsigned bytes)
{
    struct operand o = {.type = source_types_plain(is_signed ? TYPE_SIGNED : TYPE_UNSIGNED, bytes)};
    if (bytes == INT_BYTES)
        v = is_signed ? (uint64_t)(int64_t)(int32_t)v : (uint32_t)v;
    o.n.v = v;
    return o;
}

static struct operand floating(double d)
{
    return (struct operand){.type = source_types_plain(TYPE_FLOAT, sizeof d),
                            .n = {.floating = true, .d = d}};
}

static bool is_pointer(const struct operand *o)
{
    return source_types_class(&o->type) == TYPE_POINTER;
}

static double as_double(const struct operand *o)
{
    if (o->n.floating)
        return o->n.d;
    return source_types_is_signed(&o->type) ? (double)(int64_t)o->n.v : (double)o->n.v;
}

bool operand_is_true(const struct operand *o)
{
    return o->n.floating ? o->n.d != 0 : o->n.v != 0;
}

int operand_convert(struct operand_reader *r, struct operand *o, const struct source_type *type)
{
    enum source_class class = source_types_class(type);
    uint64_t bytes = source_types_bytes(type, NULL);
    if (class == TYPE_RECORD || class == TYPE_ARRAY || class == TYPE_VOID || class == TYPE_NONE ||
        class == TYPE_FUNCTION)
        return err_set_code(r->err, EXPRESSION_BAD,
                            "a cast is to a number or a pointer: *(struct s *) p");
    if (class == TYPE_FLOAT) {
        double d = as_double(o);
        *o = floating(bytes == sizeof(float) ? (double)(float)d : d);
    } else {
        uint64_t v = !o->n.floating ? o->n.v
                     : o->n.d < 0   ? (uint64_t)(int64_t)o->n.d
                                    : (uint64_t)o->n.d;
        if (class == TYPE_BOOLEAN)
            v = operand_is_true(o);
        uint64_t bits = bytes && bytes < 8 ? 8 * bytes : 64;
        if (bits < 64) {
            v &= (1ull << bits) - 1;
            if (source_types_is_signed(type) && v >> (bits - 1))
                v |= UINT64_MAX << bits;
        }
        *o = (struct operand){.n = {.v = v}};
    }
    o->type = *type;
    return 0;
}

/* ---- two operands ---- */

static bool compare(const char *op, int order, bool equal, uint64_t *v)
{
    if (strcmp(op, "==") == 0)
        *v = equal;
    else if (strcmp(op, "!=") == 0)
        *v = !equal;
    else if (strcmp(op, "<") == 0)
        *v = order < 0;
    else if (strcmp(op, ">") == 0)
        *v = order > 0;
    else if (strcmp(op, "<=") == 0)
        *v = order < 0 || equal;
    else if (strcmp(op, ">=") == 0)
        *v = order > 0 || equal;
    else
        return false;
    return true;
}

static int of_doubles(struct operand_reader *r, struct operand *a, const struct operand *b,
                      const char *op)
{
    double x = as_double(a), y = as_double(b);
    uint64_t v;
    if (compare(op, x < y ? -1 : x > y, x == y, &v)) {
        *a = operand_integer(v, true, INT_BYTES);
        return 0;
    }
    switch (op[1] ? 0 : op[0]) {
    case '+':
        *a = floating(x + y);
        return 0;
    case '-':
        *a = floating(x - y);
        return 0;
    case '*':
        *a = floating(x * y);
        return 0;
    case '/':
        *a = floating(x / y);
        return 0;
    default:
        return err_set_code(r->err, EXPRESSION_BAD, "%s is not for floating point", op);
    }
}

/* Pointers count in what they lead to. */
static int of_pointers(struct operand_reader *r, struct operand *a, const struct operand *b,
                       const char *op)
{
    struct source_scene scene = {r->scene->source, r->scene->pc, &r->scene->frame};
    struct source_type target;
    const struct operand *pointer = is_pointer(a) ? a : b;
    uint64_t v, x = a->n.v, y = b->n.v;
    if (compare(op, x < y ? -1 : x > y, x == y, &v)) {
        *a = operand_integer(v, true, INT_BYTES);
        return 0;
    }
    uint64_t size =
        source_types_target(&pointer->type, &target) ? source_types_bytes(&target, &scene) : 0;
    if (!size) /* void: as GDB has it */
        size = 1;
    if (strcmp(op, "+") == 0 && is_pointer(a) != is_pointer(b)) {
        v = is_pointer(a) ? x + y * size : y + x * size;
    } else if (strcmp(op, "-") == 0 && is_pointer(a)) {
        v = x - (is_pointer(b) ? y : y * size);
        if (is_pointer(b)) {
            *a = operand_integer((uint64_t)((int64_t)v / (int64_t)size), true, LONG_BYTES);
            return 0;
        }
    } else {
        return err_set_code(r->err, EXPRESSION_BAD, "%s is not for pointers", op);
    }
    *a = (struct operand){.type = pointer->type, .n = {.v = v}};
    return 0;
}

static int divide(struct operand_reader *r, uint64_t x, uint64_t y, bool is_signed, char op,
                  uint64_t *v)
{
    if (!y)
        return err_set_code(r->err, EXPRESSION_BAD, "it divides by zero");
    if (!is_signed)
        *v = op == '/' ? x / y : x % y;
    else if (y == UINT64_MAX)
        *v = op == '/' ? -x : 0;
    else
        *v = (uint64_t)(op == '/' ? (int64_t)x / (int64_t)y : (int64_t)x % (int64_t)y);
    return 0;
}

static int of_integers(struct operand_reader *r, struct operand *a, const struct operand *b,
                       const char *op)
{
    uint64_t x = a->n.v, y = b->n.v, v = 0;
    uint64_t wa = operand_bytes(r, a), wb = operand_bytes(r, b);
    bool sa = source_types_is_signed(&a->type) || wa < INT_BYTES;
    bool sb = source_types_is_signed(&b->type) || wb < INT_BYTES;
    bool shift = strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0;
    unsigned bytes = wa > INT_BYTES || (wb > INT_BYTES && !shift) ? LONG_BYTES : INT_BYTES;
    bool is_signed = shift ? sa : (sa || wa < bytes) && (sb || wb < bytes);
    int order =
        is_signed ? ((int64_t)x < (int64_t)y ? -1 : (int64_t)x > (int64_t)y) : (x < y ? -1 : x > y);
    if (compare(op, order, x == y, &v)) {
        *a = operand_integer(v, true, INT_BYTES);
        return 0;
    }
    switch (op[0]) {
    case '+':
        v = x + y;
        break;
    case '-':
        v = x - y;
        break;
    case '*':
        v = x * y;
        break;
    case '/':
    case '%':
        if (divide(r, x, y, is_signed, op[0], &v))
            return -1;
        break;
    case '&':
        v = x & y;
        break;
    case '|':
        v = x | y;
        break;
    case '^':
        v = x ^ y;
        break;
    case '<':
        v = y < 64 ? x << y : 0;
        break;
    default: /* >> */
        v = is_signed ? (uint64_t)((int64_t)x >> (y < 64 ? y : 63)) : y < 64 ? x >> y : 0;
    }
    *a = operand_integer(v, is_signed, bytes);
    return 0;
}

int operand_binary(struct operand_reader *r, struct operand *a, const struct operand *b,
                   const char *op)
{
    if (r->muted) { /* the type is all that counts */
        if (!is_pointer(a) && !a->n.floating && (is_pointer(b) || b->n.floating))
            *a = *b;
        return 0;
    }
    if (is_pointer(a) || is_pointer(b))
        return of_pointers(r, a, b, op);
    return a->n.floating || b->n.floating ? of_doubles(r, a, b, op) : of_integers(r, a, b, op);
}

int operand_unary(struct operand_reader *r, struct operand *a, char op)
{
    struct operand zero = operand_integer(0, true, INT_BYTES), value = *a;
    if (op == '!') {
        *a = operand_integer(!operand_is_true(a), true, INT_BYTES);
        return 0;
    }
    if (is_pointer(a) || (op == '~' && a->n.floating))
        return err_set_code(r->err, EXPRESSION_BAD, "%c is not for this", op);
    if (op == '~') {
        *a = operand_integer(UINT64_MAX, true, INT_BYTES);
        return operand_binary(r, a, &value, "^");
    }
    *a = zero;
    return operand_binary(r, a, &value, op == '-' ? "-" : "+");
}
