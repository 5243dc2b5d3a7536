/* chain.h - an expression that is evaluated anew at each moment, and what it reads on its way.
 *
 * SPDX-License-Identifier: MIT
 *
 * `list->head->key` is a chain of three links: list, list->head, list->head->key. Where a link is
 * depends on what the links before it hold. The variables that it begins with are where they are at
 * one place of the program, in one frame; they have to be in memory.
 *
 *     chain = chain_new(source, pc, &frame, "list->head->key", &err);
 *     probe.take = chain_take(chain, &probe.take_bytes);      the links, wherever the program is
 *     for each row: chain_read_row(chain, pieces, n);  chain_link(chain, 2, &addr, &bytes);
 */
#ifndef SOURCE_CHAIN_H
#define SOURCE_CHAIN_H

#include "source/compile.h"
#include "source/variable.h"

struct chain;

/* `frame`: what does not change while the frame is there (cfa, fs_base), scope and inlined. NULL
 * with *err set; code CHAIN_THREAD: it needs fs_base. */
enum { CHAIN_THREAD = 350 };
struct chain *chain_new(struct source *s, gaddr pc, const struct source_frame *frame,
                        const char *text, struct err *err);
void chain_free(struct chain *c); /* NULL is allowed */

const uint8_t *chain_take(struct chain *c, uint32_t *bytes);

/* Evaluates it: from what a row has taken, or from memory (how many of the bytes there are). */
typedef size_t chain_memory(void *arg, gaddr addr, void *out, size_t bytes);
void chain_read(struct chain *c, chain_memory *memory, void *arg);
void chain_read_row(struct chain *c, const struct compile_piece *piece, size_t n);

/* As it was when it was read last. A link of which nobody can say where it is has no place then;
 * before the first time only fixed ones have. */
size_t chain_links(const struct chain *c);
bool chain_link(const struct chain *c, size_t link, gaddr *addr, uint64_t *bytes);
/* The part of the expression that it is, *length long. */
const char *chain_name(const struct chain *c, size_t link, int *length);
/* Is it always at the same address, whatever memory holds? */
bool chain_is_fixed(const struct chain *c, size_t link);

/* The value's bytes, or NULL: it has none. */
const uint8_t *chain_value(const struct chain *c, size_t *bytes);
/* As GDB's `print` writes it, or why there is none; only until memory changes. */
const char *chain_text(struct chain *c);

#endif
