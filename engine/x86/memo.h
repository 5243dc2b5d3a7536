/* memo.h - what the decoder said about instructions of the same form.
 *
 * SPDX-License-Identifier: MIT
 *
 * Used by insn.c only, with the baton held. A form is everything in struct insn from flags_read on;
 * it is decided by the head of the instruction, the bytes before its displacement and immediate.
 */
#ifndef ENGINE_X86_MEMO_H
#define ENGINE_X86_MEMO_H

#include "engine/x86/insn.h"

/* Fills in the form of the instruction that begins with these bytes, if it is known. */
bool memo_find(struct insn *in, const uint8_t *bytes, size_t avail);

/* From now on all instructions that begin with these `head` bytes have this form. */
void memo_add(const struct insn *in, const uint8_t *bytes, size_t head);

#endif
