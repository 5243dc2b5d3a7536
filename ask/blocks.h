/* blocks.h - words for blocks of memory. SPDX-License-Identifier: MIT */
#ifndef ASK_BLOCKS_H
#define ASK_BLOCKS_H

#include "ask/question.h"
#include "facts/heap/words.h"

/* The position of a call's first instruction. */
struct position blocks_position(const struct study *s, const struct heap *h, uint32_t call);

/* Says below the rows what is not known: functions without values, no allocator at all. */
void blocks_note(struct asking *q, const struct heap *h);

#endif
