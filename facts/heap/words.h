/* words.h - words for blocks of memory and for what was done wrong with them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef FACTS_HEAP_WORDS_H
#define FACTS_HEAP_WORDS_H

#include "facts/heap/errors.h"

enum { HEAP_WORDS = 1024 };

/* "main.c:12", "puts in libc.so.6": where the user's own code called, as far as known. */
void heap_words_place(struct study *s, gaddr pc, char *buf, size_t room);
/* "main.c:12 (T1)" for the caller of a call. */
void heap_words_caller(struct study *s, const struct heap *h, uint32_t call, char *buf,
                       size_t room);
/* "malloc", "operator new[]": the function of a call. */
const char *heap_words_function(const struct heap *h, uint32_t call);

const char *heap_words_kind(uint8_t kind); /* "use after free"; enum heap_error_kind */
/* The user's own code that it happened in, or under. */
gaddr heap_words_own(struct study *s, const struct heap *h, const struct heap_error *e);
/* "reads 8 bytes at 40 bytes into a block of 48 that main.c:12 (T1) allocated"; `calls`: with the
 * calls that led to who allocated and freed it. */
void heap_words_error(struct study *s, const struct heap *h, const struct heap_error *e, bool calls,
                      char text[HEAP_WORDS]);

#endif
