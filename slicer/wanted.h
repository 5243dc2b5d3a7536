/* wanted.h - the bytes of memory whose last definition is being looked for.
 *
 * SPDX-License-Identifier: MIT
 *
 * A bit for each byte, in pages; the pages that were asked for last are found without looking.
 */
#ifndef SLICER_WANTED_H
#define SLICER_WANTED_H

#include <stddef.h>

#include "engine/rt/types.h"

enum { WANTED_SHIFT = 12, WANTED_WORDS = (1 << WANTED_SHIFT) / 64, WANTED_LAST = 64 };

struct wanted_page {
    gaddr number; /* address >> WANTED_SHIFT, plus one; 0: free */
    uint64_t *bits;
};

struct wanted {
    struct wanted_page *page;
    size_t room, used;
    size_t live; /* words that are not 0 */
    struct wanted_page last[WANTED_LAST];
};

/* What {0} begins. False: no memory. */
bool wanted_add(struct wanted *w, gaddr addr, uint64_t bytes);
/* Takes them off; were there any? */
bool wanted_take(struct wanted *w, gaddr addr, uint64_t bytes);
bool wanted_any(struct wanted *w, gaddr addr, uint64_t bytes);
void wanted_deinit(struct wanted *w);

/* Bytes of [from, from + bytes) that are wanted are taken off; what is at the same distance from
 * `to` is wanted instead. Were there any? */
bool wanted_move(struct wanted *w, gaddr from, uint64_t bytes, gaddr to, bool *ok);

#endif
