/* defuse_int.h - shared by the files of defuse.h only.
 *
 * SPDX-License-Identifier: MIT
 *
 * defuse.c goes through the operands, defuse_fix.c knows what they do not say, defuse_x87.c the
 * x87 stack and MMX.
 */
#ifndef ENGINE_X86_DEFUSE_INT_H
#define ENGINE_X86_DEFUSE_INT_H

#include "engine/x86/defuse.h"

/* Corrections, by mnemonic. */
enum defuse_fix {
    /* The destination: */
    FIX_KEEPS = 1 << 0,       /* may stay as it was */
    FIX_KEEPS_ALL = 1 << 1,   /* so may all registers that are written, all 8 bytes of them */
    FIX_READS_DEST = 1 << 2,  /* is a source, too */
    FIX_WRITES_DEST = 1 << 3, /* is none, though the decoder says so */
    FIX_WHOLE_DEST = 1 << 4,  /* all of the register is written */
    FIX_HIGH_DEST = 1 << 5,   /* is the upper half of a vector register */
    /* Sources: */
    FIX_HIGH_SOURCE = 1 << 6,  /* the upper half */
    FIX_WHOLE_SOURCE = 1 << 7, /* more of the register than the decoder says */
    FIX_SAME = 1 << 8,         /* a register with itself gives a constant */
    FIX_MXCSR = 1 << 9,        /* rounds or flushes, though its exception class does not tell */
    FIX_NO_MXCSR = 1 << 10,    /* the other way round */
    /* Flags: */
    FIX_FLAGS_AF = 1 << 11,  /* AF is undefined on paper and written by every CPU */
    FIX_FLAGS_ALL = 1 << 12, /* all arithmetic flags are written */
    FIX_NOTHING = 1 << 13,   /* has no effect that anybody could see */
};

struct defuse_work {
    const struct insn *in;
    const struct insn_operands *ops;
    const struct defuse_how *how;
    unsigned fix;
    uint16_t no_read; /* operands whose value does not matter, one bit each */
    struct loc_set def, use[DEFUSE_KEPT + 1];
    struct defuse *out;
};

static inline bool defuse_hardware(const struct defuse_work *w)
{
    return w->how->flags & DEFUSE_STACK_POINTER;
}

void defuse_def(struct defuse_work *w, unsigned first, unsigned count);
void defuse_use(struct defuse_work *w, unsigned first, unsigned count, enum defuse_kind kind);
/* A definition that may not happen. */
void defuse_def_kept(struct defuse_work *w, unsigned first, unsigned count);

/* Before the operands: corrections, operands that do not matter. */
void defuse_fix_begin(struct defuse_work *w);
/* Instructions that are described as a whole: true if it was one. */
bool defuse_fix_special(struct defuse_work *w);
/* Behind the operands. */
void defuse_fix_end(struct defuse_work *w);
/* A count in cl, or an immediate count of zero. */
bool defuse_fix_shift_by_cl(const struct insn_operands *ops);
bool defuse_fix_shift_by_none(const struct insn_operands *ops);

bool defuse_x87_is(const struct insn_operands *ops);
void defuse_x87_operand(struct defuse_work *w, const ZydisDecodedOperand *op);
void defuse_x87_end(struct defuse_work *w);
void defuse_x87_mmx(struct defuse_work *w);

#endif
