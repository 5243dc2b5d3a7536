/* accesses.h - the memory that an instruction touches, as far as its bytes tell.
 *
 * SPDX-License-Identifier: MIT
 *
 * Probes, watched ranges, traces and def/use sets all read this one list. Operands that only name
 * memory (lea, nop, prefetch) are not in it. Where the bytes do not tell all, `shape` says what is
 * missing.
 */
#ifndef ENGINE_X86_ACCESSES_H
#define ENGINE_X86_ACCESSES_H

#include "engine/x86/insn.h"

enum access_shape {
    ACCESS_PLAIN,  /* base + index * scale + displacement, segment; `bytes` from there */
    ACCESS_STRING, /* `bytes` are one element of a string instruction; rep: as many as rcx says */
    ACCESS_BITS,   /* bt and friends: `bytes`, at a distance that the bit number tells */
    ACCESS_TABLE,  /* xlat: al is part of the address */
    ACCESS_VECTOR, /* gather, scatter: an element for each index that the mask lets through */
    ACCESS_MASKED, /* those elements of `bytes` that a mask lets through */
    ACCESS_STATE,  /* xsave and friends: a mask decides how much of `bytes` */
};

struct mem_access {
    uint8_t op;    /* number of the operand */
    uint8_t shape; /* enum access_shape */
    bool read, write;
    bool repeats;   /* rep, repe, repne */
    uint16_t bytes; /* 0: not known (some xsave) */
    int16_t moved;  /* to be added to the address: a push writes below the stack pointer it found,
                       pop [rsp+n] uses the one it has moved */
};

enum { ACCESSES_MOST = 4 };

/* In the order of operands; returns how many. */
int accesses_of(const struct insn *in, const struct insn_operands *ops,
                struct mem_access out[ACCESSES_MOST]);

/* A string instruction, rep or not. */
bool accesses_string(const struct insn_operands *ops);

#endif
