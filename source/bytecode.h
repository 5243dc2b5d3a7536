/* bytecode.h - writes the bytecode of conditions and probes (debug/bytecode.h).
 *
 * SPDX-License-Identifier: MIT
 *
 *     struct bytecode b = {0};
 *     bytecode_reg(&b, AGENT_RDI);  bytecode_take(&b, 16);  bytecode_end(&b);
 *
 * takes the 16 bytes that rdi leads to. Code that does not fit is not written, and `full` says so.
 */
#ifndef SOURCE_BYTECODE_H
#define SOURCE_BYTECODE_H

#include "debug/bytecode.h"
#include "source/term.h"

struct bytecode {
    uint8_t code[AGENT_BYTES];
    uint32_t bytes;
    bool full;
};

void bytecode_op(struct bytecode *b, enum agent_op op); /* one without an operand */
void bytecode_const(struct bytecode *b, uint64_t v);
void bytecode_reg(struct bytecode *b, unsigned reg);
void bytecode_ref(struct bytecode *b, unsigned bytes); /* 1, 2, 4 or 8, zero-extended */
void bytecode_extend(struct bytecode *b, unsigned bits, bool is_signed);

/* A jump (if_goto, goto, try) whose target is the place of bytecode_land(). */
uint32_t bytecode_jump(struct bytecode *b, enum agent_op op);
void bytecode_land(struct bytecode *b, uint32_t jump);

/* Pieces: memory at the address on the stack; up to a zero byte there, and no more than `most`; the
 * value on the stack; a register of any kind. */
void bytecode_take(struct bytecode *b, uint32_t bytes);
void bytecode_take_string(struct bytecode *b, uint32_t most);
void bytecode_take_value(struct bytecode *b);
void bytecode_take_register(struct bytecode *b, unsigned reg);

/* The value of the topmost is the result; where there may be none, 0. */
void bytecode_end(struct bytecode *b);

/* Leaves the term's value on the stack. `told`: before memory is read at an address that cannot be
 * trusted, none of it is taken there, so that a reader can say where memory was missing. False:
 * bytecode has no such operation (term_is_floating()), or the term is unknown. */
bool bytecode_term(struct bytecode *b, const struct terms *t, struct term x, bool told);

#endif
