/* access_int.h - sums that the addresses of operands are made of. SPDX-License-Identifier: MIT */
#ifndef SOURCE_ACCESS_INT_H
#define SOURCE_ACCESS_INT_H

#include "engine/x86/insn.h"
#include "source/access.h"

enum { ACCESS_TERMS = 3, ACCESS_TEXT = 96, ACCESS_DEPTH = 8 };

/* What a sum is counted from. */
enum access_base {
    ACCESS_NOTHING,
    ACCESS_FRAME,  /* the canonical frame address */
    ACCESS_THREAD, /* the FS base */
    ACCESS_FIXED,  /* 0: `constant` is an address */
};

/* A value of the source, so many times. */
struct access_term {
    char text[ACCESS_TEXT];
    struct source_type type;
    int64_t times;
};

struct access_sum {
    enum access_base base;
    int64_t constant;
    struct access_term term[ACCESS_TERMS];
    unsigned terms;
};

/* The code of a function, or of a piece of it. */
struct access_code {
    gaddr start, end;
    uint8_t *byte;
    uint8_t *mark; /* for each byte: an instruction begins here, or is jumped to */
};

struct access_walk {
    struct source *s;
    struct access_code code;
    unsigned depth;
};

/* access_sum.c: the address of a memory operand, before the instruction is executed. */
bool access_address(struct access_walk *w, const struct insn *in, const ZydisDecodedOperand *op,
                    struct access_sum *out);
/* access.c: the name and type of the memory at a sum, of so many bytes. */
bool access_name(struct access_walk *w, gaddr pc, const struct access_sum *sum, uint64_t bytes,
                 char text[ACCESS_TEXT], struct source_type *type);

/* access_code.c */
bool access_code_read(struct source *s, gaddr pc, struct access_code *out);
void access_code_free(struct access_code *c);
/* The instruction at pc; and the one before it on a straight way, false: there are several ways, or
 * none is known. */
bool access_code_at(const struct access_code *c, gaddr pc, struct insn *in);
bool access_code_before(const struct access_code *c, gaddr pc, struct insn *in);

#endif
