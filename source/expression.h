/* expression.h - C expressions, and what they read.
 *
 * SPDX-License-Identifier: MIT
 *
 * Variables, members (a.b, p->q), elements, * and &, casts, sizeof, arithmetic, registers (%rax; or
 * $rax with GDB's names and parts), and names as GDB spells them ('file.c'::x, function::x).
 * Nothing is changed or called. In methods, members of *this are variables. A reference is what it
 * refers to.
 *
 * What is read has one of two roles: it is the value, or it only says where the value is: the
 * pointer of p->q and *p, the index of a[i].
 */
#ifndef SOURCE_EXPRESSION_H
#define SOURCE_EXPRESSION_H

#include "source/registers.h"
#include "source/variable.h"

/* The place at which it is read. */
struct expression_scene {
    struct source *source;
    gaddr pc;
    struct source_frame frame;
    const struct program_registers *registers; /* NULL: not known, nor is memory */
};

struct expression_read {
    bool memory;   /* `bytes` bytes at addr; else locations from `addr` on (enum loc) */
    bool address;  /* its role */
    bool at_entry; /* of a register: its value when the function was entered */
    uint64_t addr, bytes;
    struct term at;   /* of memory: addr, or its formula (source_frame.terms) */
    const char *text; /* the part of the expression that it is, `length` long; NULL: not known */
    uint32_t length;
};

enum { EXPRESSION_READS = 64 };

struct expression {
    struct expression_read read[EXPRESSION_READS]; /* no two of them are the same */
    size_t reads;
    bool placed; /* it is a place, and no number that was computed; of this type: */
    struct source_type type;
    uint32_t bit, bits; /* of a bit-field, in its bytes; bits 0: it is none */
};

/* Codes of errors, besides source.h's. SOURCE_UNKNOWN_PLACE: registers and memory are needed. */
enum expression_error {
    EXPRESSION_BAD = 300, /* it is none that is understood */
    EXPRESSION_CONSTANT,  /* its value is known to the compiler, and is nowhere */
};

/* How long the first of several expressions is, that commas separate. */
size_t expression_length(const char *list);

int expression_read(const struct expression_scene *scene, const char *text, struct expression *out,
                    struct err *err);

#endif
