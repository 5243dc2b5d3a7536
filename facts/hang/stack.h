/* stack.h - the calls that a thread is in, by its registers and its stack.
 *
 * SPDX-License-Identifier: MIT
 *
 * By call frame information, from the inside out, as a debugger does it: for a moment of which no
 * trace tells. It ends where a rule is missing or memory cannot be read; nothing is guessed.
 */
#ifndef FACTS_HANG_STACK_H
#define FACTS_HANG_STACK_H

#include "study/study.h"

enum { STACK_FRAMES = 64, STACK_REGISTERS = 17, STACK_RBP = 6, STACK_RSP = 7, STACK_PC = 16 };

struct stack_frame {
    uint64_t reg[STACK_REGISTERS]; /* by DWARF's numbers; 16 is the pc */
    uint32_t known;                /* a bit for each */
    gaddr cfa;                     /* 0: not known, and this is the last one */
};

struct stack_memory {
    size_t (*read)(void *arg, gaddr addr, void *out, size_t bytes);
    void *arg;
};

/* The innermost one, but for its CFA. */
struct stack_frame stack_innermost(const struct program_registers *r);
/* frame[0] is given but for its CFA; the others are filled in. Returns how many there are. */
size_t stack_unwind(struct study *s, const struct stack_memory *memory, struct stack_frame *frame,
                    size_t room);

/* The pc by which its line is found: that of the call, in a frame which is not the innermost. */
gaddr stack_line_pc(const struct stack_frame *frame, size_t i);

/* The innermost frame in the user's own code; `count`: none. */
size_t stack_own(struct study *s, const struct stack_frame *frame, size_t count);

#endif
