/* blocks.h - words for blocks of memory. SPDX-License-Identifier: MIT */
#ifndef ASK_BLOCKS_H
#define ASK_BLOCKS_H

#include "ask/question.h"
#include "facts/heap/heap.h"

enum { BLOCKS_TEXT = 1024 };

/* The position of a call's first instruction. */
struct position blocks_position(const struct study *s, const struct heap *h, uint32_t call);

/* "main.c:12", "puts in libc.so.6": where the user's own code called, as far as known. */
void blocks_place(struct study *s, gaddr pc, char *buf, size_t room);
/* "main.c:12 (T1)" for the caller of a call. */
void blocks_caller(struct study *s, const struct heap *h, uint32_t call, char *buf, size_t room);

/* "malloc", "operator new[]": the function of a call. */
const char *blocks_function(const struct heap *h, uint32_t call);

/* Says below the rows what is not known: functions without values, no allocator at all. */
void blocks_note(struct asking *q, const struct heap *h);

#endif
