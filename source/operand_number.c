/* operand_number.c - arithmetic of expressions, as C has it. SPDX-License-Identifier: MIT */
#include <string.h>

#include "source/operand.h"

enum { INT_BYTES = 4, LONG_BYTES = 8 };

static struct terms *terms_of(const struct operand_reader *r)
{
    return r->scene->frame.terms;
}

/* A value of 64 bits as one of so many bytes. */
static struct operand integer(struct terms *terms, struct term t, bool is_signed, unsigned bytes)
{
    return (struct operand){.type =
                                source_types_plain(is_signed ? TYPE_SIGNED : TYPE_UNSIGNED, bytes),
                            .n.t = term_extend(terms, t, 8 * bytes, is_signed)};
}

struct operand operand_integer(uint64_t v, bool is_signed, unsigned bytes)
{
    return integer(NULL, term_number(v), is_signed, bytes);
}

struct operand operand_logical(const struct operand_reader *r, struct term truth)
{
    return (struct operand){.type = r->cxx ? source_types_plain(TYPE_BOOLEAN, 1)
                                           : source_types_plain(TYPE_SIGNED, INT_BYTES),
                            .n.t = truth};
}

/* A double as a number of so many bytes. */
static struct operand floating(struct terms *terms, struct term t, uint64_t bytes)
{
    if (bytes == sizeof(float)) {
        t = term_op(terms, TERM_F_TO_SINGLE, t, t);
        t = term_op(terms, TERM_F_OF_SINGLE, t, t);
    }
    return (struct operand){
        .type =
            source_types_plain(TYPE_FLOAT, bytes == sizeof(float) ? sizeof(float) : sizeof(double)),
        .n = {.floating = true, .t = t}};
}

static bool is_pointer(const struct operand *o)
{
    return source_types_class(&o->type) == TYPE_POINTER;
}

static struct term as_double(struct terms *terms, const struct operand *o)
{
    if (o->n.floating)
        return o->n.t;
    return term_op(terms, source_types_is_signed(&o->type) ? TERM_F_OF_SIGNED : TERM_F_OF_UNSIGNED,
                   o->n.t, o->n.t);
}

static struct term negated(struct terms *terms, struct term t)
{
    return term_op(terms, TERM_NOT, t, t);
}

struct term operand_truth(struct operand_reader *r, const struct operand *o)
{
    struct terms *terms = terms_of(r);
    const struct term_node *node = term_node(terms, o->n.t);
    if (o->n.floating)
        return negated(terms, term_op(terms, TERM_F_EQUAL, o->n.t, term_number(0)));
    if (node &&
        (node->op == TERM_NOT || node->op == TERM_EQUAL || node->op == TERM_AND ||
         node->op == TERM_OR || node->op == TERM_LESS_SIGNED || node->op == TERM_LESS_UNSIGNED))
        return o->n.t;
    return negated(terms, negated(terms, o->n.t));
}

int operand_convert(struct operand_reader *r, struct operand *o, const struct source_type *type)
{
    struct terms *terms = terms_of(r);
    enum source_class class = source_types_class(type);
    uint64_t bytes = source_types_bytes(type, NULL);
    if (class == TYPE_RECORD || class == TYPE_ARRAY || class == TYPE_VOID || class == TYPE_NONE ||
        class == TYPE_FUNCTION || class == TYPE_COMPLEX)
        return err_set_code(r->err, EXPRESSION_BAD,
                            "a cast is to a number or a pointer: *(struct s *) p");
    if (class == TYPE_FLOAT) {
        *o = floating(terms, as_double(terms, o), bytes);
        if (bytes == sizeof(long double)) /* it is calculated as a double */
            return 0;
    } else {
        bool is_signed = source_types_is_signed(type);
        struct term t = o->n.t;
        if (class == TYPE_BOOLEAN)
            t = operand_truth(r, o);
        else if (o->n.floating)
            t = term_op(terms, is_signed ? TERM_F_TO_SIGNED : TERM_F_TO_UNSIGNED, t, t);
        *o = (struct operand){
            .n.t = term_extend(terms, t, bytes < LONG_BYTES ? 8 * (unsigned)bytes : 0, is_signed)};
    }
    o->type = *type;
    return 0;
}

/* ---- two operands ---- */

/* Comparisons by "less", of either order, negated or not. */
static const struct comparison {
    const char *op;
    bool equal, swapped, negated;
} comparisons[] = {{"==", true, false, false}, {"!=", true, false, true},
                   {"<", false, false, false}, {">", false, true, false},
                   {"<=", false, true, true},  {">=", false, false, true}};

static const struct comparison *comparison_of(const char *op)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (strcmp(comparisons[i].op, op) == 0)
            return &comparisons[i];
    return NULL;
}

static struct term compare(struct terms *terms, const struct comparison *c, enum term_op less,
                           struct term x, struct term y)
{
    struct term t =
        term_op(terms, c->equal ? TERM_EQUAL : less, c->swapped ? y : x, c->swapped ? x : y);
    return c->negated ? negated(terms, t) : t;
}

/* With what is no number nothing but != is true. */
static struct term compare_doubles(struct terms *terms, const struct comparison *c, struct term x,
                                   struct term y)
{
    enum term_op op = c->equal ? TERM_F_EQUAL : c->negated ? TERM_F_LESS_EQUAL : TERM_F_LESS;
    bool swapped = c->swapped != (c->negated && !c->equal); /* x >= y is y <= x */
    struct term t = term_op(terms, op, swapped ? y : x, swapped ? x : y);
    return c->negated && c->equal ? negated(terms, t) : t;
}

static int of_doubles(struct operand_reader *r, struct operand *a, const struct operand *b,
                      const char *op)
{
    static const char ops[] = "+-*/";
    struct terms *terms = terms_of(r);
    struct term x = as_double(terms, a), y = as_double(terms, b);
    const struct comparison *c = comparison_of(op);
    const char *at = op[1] ? NULL : strchr(ops, op[0]);
    if (c) {
        *a = operand_logical(r, compare_doubles(terms, c, x, y));
        return 0;
    }
    if (!at)
        return err_set_code(r->err, EXPRESSION_BAD, "%s is not for floating point", op);
    uint64_t wa = a->n.floating ? operand_bytes(r, a) : 0,
             wb = b->n.floating ? operand_bytes(r, b) : 0;
    *a = floating(terms, term_op(terms, TERM_F_ADD + (at - ops), x, y), wa > wb ? wa : wb);
    return 0;
}

/* Pointers count in what they lead to. */
static int of_pointers(struct operand_reader *r, struct operand *a, const struct operand *b,
                       const char *op)
{
    struct source_scene scene = {r->scene->source, r->scene->pc, &r->scene->frame};
    struct terms *terms = terms_of(r);
    struct source_type target;
    bool first = is_pointer(a), both = first && is_pointer(b);
    struct source_type type = first ? a->type : b->type;
    struct term x = a->n.t, y = b->n.t;
    const struct comparison *c = comparison_of(op);
    if (c) {
        *a = operand_logical(r, compare(terms, c, TERM_LESS_UNSIGNED, x, y));
        return 0;
    }
    uint64_t size = source_types_target(&type, &target) ? source_types_bytes(&target, &scene) : 0;
    struct term step = term_number(size ? size : 1); /* void: as GDB has it */
    if (strcmp(op, "-") == 0 && both) {
        struct term apart = term_op(terms, TERM_SUB, x, y);
        *a = integer(terms, term_op(terms, TERM_DIV_SIGNED, apart, step), true, LONG_BYTES);
        return 0;
    }
    bool plus = strcmp(op, "+") == 0;
    if (both || (!plus && (strcmp(op, "-") != 0 || !first)))
        return err_set_code(r->err, EXPRESSION_BAD, "%s is not for pointers", op);
    struct term moved =
        step.v == 1 ? (first ? y : x) : term_op(terms, TERM_MUL, first ? y : x, step);
    *a = (struct operand){.type = type,
                          .n.t = term_op(terms, plus ? TERM_ADD : TERM_SUB, first ? x : y, moved)};
    return 0;
}

/* The operation on signed and on unsigned numbers. */
static const struct arithmetic {
    const char *op;
    uint8_t of_signed, of_unsigned;
} arithmetics[] = {{"+", TERM_ADD, TERM_ADD},
                   {"-", TERM_SUB, TERM_SUB},
                   {"*", TERM_MUL, TERM_MUL},
                   {"/", TERM_DIV_SIGNED, TERM_DIV_UNSIGNED},
                   {"%", TERM_REM_SIGNED, TERM_REM_UNSIGNED},
                   {"&", TERM_BIT_AND, TERM_BIT_AND},
                   {"|", TERM_BIT_OR, TERM_BIT_OR},
                   {"^", TERM_BIT_XOR, TERM_BIT_XOR},
                   {"<<", TERM_LSH, TERM_LSH},
                   {">>", TERM_RSH_SIGNED, TERM_RSH_UNSIGNED}};

/* The type that both are converted to first; of a shift what the left one is. */
static unsigned common_type(struct operand_reader *r, const struct operand *a,
                            const struct operand *b, bool shift, bool *is_signed)
{
    uint64_t wa = operand_bytes(r, a), wb = operand_bytes(r, b);
    bool sa = source_types_is_signed(&a->type) || wa < INT_BYTES;
    bool sb = source_types_is_signed(&b->type) || wb < INT_BYTES;
    unsigned bytes = wa > INT_BYTES || (wb > INT_BYTES && !shift) ? LONG_BYTES : INT_BYTES;
    *is_signed = shift ? sa : (sa || wa < bytes) && (sb || wb < bytes);
    return bytes;
}

static int of_integers(struct operand_reader *r, struct operand *a, const struct operand *b,
                       const char *op)
{
    struct terms *terms = terms_of(r);
    bool shift = strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0, is_signed;
    unsigned bytes = common_type(r, a, b, shift, &is_signed);
    struct term x = term_extend(terms, a->n.t, 8 * bytes, is_signed), y = b->n.t;
    const struct comparison *c = comparison_of(op);
    const struct arithmetic *how = arithmetics;
    if (!shift)
        y = term_extend(terms, y, 8 * bytes, is_signed);
    if (c) {
        *a = operand_logical(
            r, compare(terms, c, is_signed ? TERM_LESS_SIGNED : TERM_LESS_UNSIGNED, x, y));
        return 0;
    }
    while (strcmp(how->op, op) != 0)
        how++;
    struct term t = term_op(terms, is_signed ? how->of_signed : how->of_unsigned, x, y);
    if (t.kind == TERM_UNKNOWN)
        return err_set_code(r->err, EXPRESSION_BAD,
                            strchr("/%", op[0]) ? "it divides by zero" : "it is too large");
    *a = integer(terms, t, is_signed, bytes);
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
    struct operand other = operand_integer(op == '~' ? UINT64_MAX : 0, true, INT_BYTES), value = *a;
    if (op == '!') {
        *a = operand_logical(r, negated(terms_of(r), operand_truth(r, a)));
        return 0;
    }
    if (is_pointer(a) || (op == '~' && a->n.floating))
        return err_set_code(r->err, EXPRESSION_BAD, "%c is not for this", op);
    *a = other;
    return operand_binary(r, a, &value, op == '~' ? "^" : op == '-' ? "-" : "+");
}

/* By the entry's address: libdw fills in the rest of what it says of an entry when it is looked at.
 */
static bool is_same_type(const struct source_type *a, const struct source_type *b)
{
    return a->die[0] == b->die[0] && a->class == b->class && a->bytes == b->bytes &&
           a->pointers == b->pointers && a->passed == b->passed;
}

int operand_choose(struct operand_reader *r, struct term when, struct operand *a, struct operand *b)
{
    struct terms *terms = terms_of(r);
    if (term_is_number(when)) {
        *a = when.v ? *a : *b;
        return 0;
    }
    if (a->n.floating || b->n.floating) {
        uint64_t wa = a->n.floating ? operand_bytes(r, a) : 0,
                 wb = b->n.floating ? operand_bytes(r, b) : 0;
        struct term t = term_choice(terms, when, as_double(terms, a), as_double(terms, b));
        *a = floating(terms, t, wa > wb ? wa : wb);
    } else if (is_pointer(a) || is_pointer(b)) {
        *a = (struct operand){.type = is_pointer(a) ? a->type : b->type,
                              .n.t = term_choice(terms, when, a->n.t, b->n.t)};
    } else {
        bool is_signed, same = is_same_type(&a->type, &b->type);
        unsigned bytes = common_type(r, a, b, false, &is_signed);
        struct source_type type = a->type;
        *a = integer(terms, term_choice(terms, when, a->n.t, b->n.t), is_signed, bytes);
        if (same)
            a->type = type;
    }
    return a->n.t.kind == TERM_UNKNOWN ? err_set_code(r->err, EXPRESSION_BAD, "it is too large")
                                       : 0;
}
