/* written.h - a set of bytes of memory. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_WRITTEN_H
#define REPLAYER_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct written;

struct written *written_new(void);    /* NULL: no memory */
void written_free(struct written *w); /* NULL is allowed */
void written_empty(struct written *w);
int written_add(struct written *w, uint64_t addr, uint64_t bytes); /* -1: no memory */

/* Sets a bit for each byte of [addr, addr + bytes), all in a page, that is in the set. True: all
 * are.
 */
bool written_mask(const struct written *w, uint64_t addr, uint64_t bytes, uint8_t *mask);

/* All of it in ascending order; a piece is within a page, and small holes are in it. Ends with what
 * `fn` returns if that is not 0. */
int written_each(struct written *w,
                 int (*fn)(void *arg, uint64_t addr, uint64_t bytes, struct err *err), void *arg,
                 struct err *err);

#endif
