/* operand.h - parts of an expression, for expression.c. SPDX-License-Identifier: MIT */
#ifndef SOURCE_OPERAND_H
#define SOURCE_OPERAND_H

#include "source/expression.h"

/* A number that was read or calculated. */
struct operand_number {
    bool floating;
    struct term t; /* extended to 64 bits by its type; of what is floating a double's bits */
};

/* What a part of an expression stands for: a place that nobody has read yet, or a number. */
struct operand {
    struct source_type type;
    bool placed;
    struct source_place place;
    uint64_t offset;    /* of the part, in the place */
    uint32_t bit, bits; /* of a bit-field, behind the offset; bits 0: it is none */
    bool in_register;   /* placed in locations from `first` on, not by `place` */
    unsigned first;
    bool referred; /* placed where a reference of type `reference` leads */
    struct source_type reference;
    struct operand_number n;
    const char *text; /* as it is spelled, `length` long; NULL: by nobody */
    uint32_t length;
};

enum operand_role { OPERAND_MUTED, OPERAND_VALUE, OPERAND_ADDRESS };

struct operand_reader {
    const struct expression_scene *scene;
    struct expression *out; /* NULL: nobody wants to know what is read */
    int muted;              /* inside sizeof, or where nothing is read */
    bool all;               /* references are read, too, and what is computed has to be known */
    bool cxx;               /* a comparison is a bool */
    struct err *err;
};

/* The variable of that name: its place. References are followed. */
int operand_variable(struct operand_reader *r, const char *name, struct operand *out);
int operand_register(struct operand_reader *r, const char *name, struct operand *out);
/* What is at the place. References are followed. */
int operand_at(struct operand_reader *r, const struct source_place *place, struct operand *out);

/* Notes that all of it is read. Parts that are optimized out are an error. */
int operand_note(struct operand_reader *r, const struct operand *o, enum operand_role role);
/* The same, and makes it a number. For an array: its address, which reads nothing. */
int operand_fetch(struct operand_reader *r, struct operand *o, enum operand_role role);

/* Parts; `o` is placed, or of an index or `*` a pointer. The pointer is read for its address. */
int operand_member(struct operand_reader *r, struct operand *o, const char *name);
int operand_deref(struct operand_reader *r, struct operand *o);
/* An array that is in registers or in pieces, so that there is no pointer to its elements; and one
 * of these. */
bool operand_is_split(const struct operand *o);
int operand_element(struct operand_reader *r, struct operand *o, const struct operand *index);
int operand_address(struct operand_reader *r, struct operand *o);

/* operand_number.c: numbers. A cast; `a` becomes a op b; -a, !a, ~a. */
int operand_convert(struct operand_reader *r, struct operand *o, const struct source_type *type);
int operand_binary(struct operand_reader *r, struct operand *a, const struct operand *b,
                   const char *op);
int operand_unary(struct operand_reader *r, struct operand *a, char op);
/* 1 or 0; and that as a number of the language. */
struct term operand_truth(struct operand_reader *r, const struct operand *o);
struct operand operand_logical(const struct operand_reader *r, struct term truth);
struct operand operand_integer(uint64_t v, bool is_signed, unsigned bytes);

/* One of two, which have become numbers of the same type. */
int operand_choose(struct operand_reader *r, struct term when, struct operand *a,
                   struct operand *b);

/* The bytes of what is placed that a piece has: `from` to `to` in it, `at` in the whole. */
typedef int operand_piece_fn(struct operand_reader *r, const struct operand *o,
                             const struct source_piece *piece, uint64_t from, uint64_t to,
                             uint64_t at, void *arg);
int operand_pieces(struct operand_reader *r, const struct operand *o, operand_piece_fn *each,
                   void *arg);
/* At most 8 of these bytes, or of a register by its DWARF number, as a formula. */
struct term operand_piece_term(struct operand_reader *r, const struct source_piece *piece,
                               uint64_t from, uint64_t to);
struct term operand_register_term(struct operand_reader *r, unsigned reg, uint64_t from,
                                  uint64_t to);

uint64_t operand_bytes(const struct operand_reader *r, const struct operand *o);

/* expression.c: what the text stands for. It may be placed still; a message begins with the text.
 */
int expression_parse(struct operand_reader *reader, const char *text, struct operand *out);

#endif
