/* pcset.h - a set of addresses, or of pairs of them. SPDX-License-Identifier: MIT */
#ifndef TRACE_PCSET_H
#define TRACE_PCSET_H

#include <stddef.h>

#include "engine/rt/types.h"

struct pcset;

struct pcset *pcset_new(void);
void pcset_free(struct pcset *s); /* NULL is allowed */

/* The pair (key, value) is in it from now on. If there is no memory it is left out, and
 * pcset_failed() says so for good. */
void pcset_add(struct pcset *s, gaddr key, gaddr value);
bool pcset_failed(const struct pcset *s);
bool pcset_has(const struct pcset *s, gaddr key); /* with value 0 */

/* All pairs, in no order: true, or false after the last. *place starts as 0. */
bool pcset_next(const struct pcset *s, size_t *place, gaddr *key, gaddr *value);

/* Sorted; they live until the next pcset_add() or call of these two. NULL: no memory. */
const gaddr *pcset_keys(struct pcset *s, size_t *count);
const gaddr (*pcset_pairs(struct pcset *s, size_t *count))[2];

#endif
