/* memo.h - what the decoder said about instructions of the same form.
 *
 * SPDX-License-Identifier: MIT
 *
 * Used by insn.c only, with the baton held. A form is everything in struct insn from flags_read on;
 * it and the registers are decided by the head of the instruction, the bytes before its
 * displacement and immediate.
 */
#ifndef ENGINE_X86_MEMO_H
#define ENGINE_X86_MEMO_H

#include "engine/x86/insn.h"

/* Fills in the form and registers of the instruction that begins with these bytes, if known. */
bool memo_find(struct insn *in, const uint8_t *bytes, size_t avail);

/* From now on all instructions that begin with these `head` bytes have these. */
void memo_add(const struct insn *in, const uint8_t *bytes, size_t head);

#endif
