/* ops.h - what instructions do to the things that are known of values, as small operations.
 *
 * SPDX-License-Identifier: MIT
 *
 * A block is compiled once, and executed for each of its steps (machine.c). Only what is surely
 * known is followed: an instruction without a rule of its own leaves values that are defined and
 * no pointers. Values themselves are not known, only constants in the code.
 */
#ifndef FACTS_HEAP_OPS_H
#define FACTS_HEAP_OPS_H

#include "trace/code.h"

/* Registers of the machine: the general ones, one that is always blank, and two for results
 * between operations. */
enum { OPS_NO_REG = GPR_COUNT, OPS_T0, OPS_T1, OPS_REGS };
/* Vectors, and one more of that kind. */
enum { OPS_VT = LOC_VECS, OPS_VECTORS };

enum ops_kind {
    OPS_LOAD,     /* dst = memory; the rest of dst is blank */
    OPS_STORE,    /* memory = src */
    OPS_READ,     /* memory is read, and what becomes of it is not followed */
    OPS_WRITE,    /* memory is written with something that is defined */
    OPS_REPEATED, /* the same, all elements of a repeated instruction: `dst` says whether written */
    OPS_COPY,     /* memory to memory: `access` is read and the one in `src` is written */
    OPS_MOVE,     /* dst = src, `bytes` of it: as the processor does it */
    OPS_WIDEN,    /* dst = src of `bytes`, zeros above */
    OPS_SIGN,     /* the same, with the sign above, to `more` bytes */
    OPS_SPREAD,   /* dst = the sign of src */
    OPS_CLEAR,    /* dst is blank */
    OPS_FLAGS,    /* flags of `flags` are defined */
    OPS_LEA,      /* dst = base + index * more */
    OPS_ADD,
    OPS_SUB,
    OPS_CMP,
    OPS_ADD_IMM, /* a constant was added or subtracted: sets all flags but those of `flags` */
    OPS_CMP_IMM,
    OPS_CARRY, /* adc, sbb; dst == src: of the carry alone */
    OPS_AND,
    OPS_AND_IMM,
    OPS_TEST,
    OPS_TEST_IMM,
    OPS_OR,
    OPS_OR_IMM,
    OPS_XOR,
    OPS_NOT,
    OPS_SHL, /* by imm */
    OPS_SHR,
    OPS_SAR,
    OPS_ROL,
    OPS_SHIFT, /* by cl */
    OPS_MUL,   /* dst = something of dst and src */
    OPS_SWAP,  /* bytes */
    OPS_EXCHANGE,
    OPS_BIT,      /* bit imm of src goes to the carry */
    OPS_SET,      /* dst = a condition */
    OPS_CHOOSE,   /* cmov: dst or src */
    OPS_BRANCH,   /* on flags */
    OPS_GOES,     /* to where src says */
    OPS_VLOAD,    /* vector dst = memory of `bytes`, zeros above */
    OPS_VSTORE,   /* memory = vector src */
    OPS_VMOVE,    /* vector dst = src, `bytes`, zeros above */
    OPS_VMERGE,   /* the same, and the rest stays */
    OPS_VJOIN,    /* the low 8 bytes of src go to the high ones of dst */
    OPS_VCLEAR,   /* vector dst is blank */
    OPS_VFROM,    /* vector dst = general src */
    OPS_VTO,      /* general dst = vector src */
    OPS_VADD,     /* of `bytes` of dst, elements of `more` bytes: dst and src are added up */
    OPS_VSLIDE,   /* 16 bytes of dst move by imm bytes, zeros follow; src: to the left */
    OPS_VMIX,     /* the low `bytes` of dst depend on those of dst and src */
    OPS_VCMP,     /* flags depend on the low `bytes` of dst and src */
    OPS_VCONVERT, /* general dst depends on the low `bytes` of src */
};

struct op {
    uint8_t kind; /* enum ops_kind */
    uint8_t insn;
    uint8_t bytes, more;
    uint8_t dst, src;
    uint8_t base, index; /* of memory: registers that say where; OPS_NO_REG */
    uint16_t access;     /* of the block */
    uint16_t flags;      /* arithmetic flags, as in RFLAGS */
    bool simple;         /* the access: its address is a slot and a constant */
    bool vector;         /* the access: by a vector instruction */
    uint16_t site;       /* the address is made here, from a variable's; 0: from none (objects.h) */
    uint64_t imm;
};

/* How a block moves the stack pointer. */
struct ops_stack {
    uint16_t access; /* that tells where it is; PLAN_NONE: none */
    bool lost;       /* behind that it is set to something that is not known */
    bool other;      /* it may be set to another stack */
    int64_t end;   /* the pointer at the end, from the access's address on; or from where it was */
    int64_t least; /* and the lowest value, from the end's on */
};

struct ops {
    struct op *op;
    size_t count, room;
    struct ops_stack stack;
    bool strings;   /* code of a library's string functions, which read more than they are told */
    bool seeks_end; /* those of them that look for a string's end */
};

/* Which variable an address is of that code makes: `base`, the stack or the frame pointer or
 * OPS_NO_REG, plus `add`. `indexed`: and something that is not known. Returns a site, or 0. */
struct ops_sites {
    uint16_t (*find)(void *arg, gaddr pc, uint8_t base, int64_t add, bool indexed);
    void *arg;
};

/* 0, or -1: no memory. */
int ops_compile(const struct code_block *b, const struct ops_sites *sites, struct ops *out);
void ops_deinit(struct ops *o);

#endif
