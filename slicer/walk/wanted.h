/* wanted.h - the bytes of memory whose last definition is being looked for.
 *
 * SPDX-License-Identifier: MIT
 *
 * A bit for each byte, in pages; the pages that were asked for last are found without looking.
 */
#ifndef SLICER_WALK_WANTED_H
#define SLICER_WALK_WANTED_H

#include <stddef.h>

#include "base/table.h"
#include "engine/rt/types.h"

enum { WANTED_SHIFT = 12, WANTED_WORDS = (1 << WANTED_SHIFT) / 64, WANTED_LAST = 512 };

struct wanted_page {
    gaddr number; /* address >> WANTED_SHIFT, plus one; 0: free */
    uint64_t *bits;
};

struct wanted {
    TABLE(struct wanted_page) page;
    size_t live; /* words that are not 0 */
    struct wanted_page last[WANTED_LAST];
};

/* For any range; what follows is for ranges that are mostly in one word. */
bool wanted_add_range(struct wanted *w, gaddr addr, uint64_t bytes);
bool wanted_take_range(struct wanted *w, gaddr addr, uint64_t bytes);
bool wanted_any_range(struct wanted *w, gaddr addr, uint64_t bytes);
/* The bits of a page by its number plus one, and now also in `last`; NULL: nothing was ever wanted
 * there. */
uint64_t *wanted_find_page(struct wanted *w, gaddr number);

static inline uint64_t *wanted_page(struct wanted *w, gaddr number)
{
    const struct wanted_page *l = &w->last[number % WANTED_LAST];
    return l->number == number ? l->bits : wanted_find_page(w, number);
}

/* The word of a range, and its bits there; NULL: nothing was ever wanted in the page. */
static inline uint64_t *wanted_word(struct wanted *w, gaddr addr, uint64_t bytes, uint64_t *mask)
{
    uint64_t *bits = wanted_page(w, (addr >> WANTED_SHIFT) + 1);
    *mask = ~0ull >> (64 - bytes) << addr % 64;
    return bits ? &bits[addr / 64 % WANTED_WORDS] : NULL;
}

static inline bool wanted_is_word(gaddr addr, uint64_t bytes)
{
    return bytes && bytes <= 64 && addr % 64 + bytes <= 64;
}

/* What {0} begins. False: no memory. */
static inline bool wanted_add(struct wanted *w, gaddr addr, uint64_t bytes)
{
    uint64_t mask, *word;
    if (!wanted_is_word(addr, bytes) || !(word = wanted_word(w, addr, bytes, &mask)))
        return wanted_add_range(w, addr, bytes);
    w->live += !*word;
    *word |= mask;
    return true;
}

/* Takes them off; were there any? */
static inline bool wanted_take(struct wanted *w, gaddr addr, uint64_t bytes)
{
    uint64_t mask, *word;
    if (!wanted_is_word(addr, bytes))
        return wanted_take_range(w, addr, bytes);
    if (!(word = wanted_word(w, addr, bytes, &mask)) || !(*word & mask))
        return false;
    *word &= ~mask;
    w->live -= !*word;
    return true;
}

static inline bool wanted_any(struct wanted *w, gaddr addr, uint64_t bytes)
{
    uint64_t mask, *word;
    if (!wanted_is_word(addr, bytes))
        return wanted_any_range(w, addr, bytes);
    return (word = wanted_word(w, addr, bytes, &mask)) && *word & mask;
}

void wanted_deinit(struct wanted *w);

/* What is wanted, by address, each as long as can be. Not 0 ends it. False: no memory. */
typedef int wanted_fn(void *arg, gaddr addr, uint64_t bytes);
bool wanted_each(const struct wanted *w, wanted_fn *fn, void *arg);

/* Bytes of [from, from + bytes) that are wanted are taken off; what is at the same distance from
 * `to` is wanted instead. Were there any? */
bool wanted_move(struct wanted *w, gaddr from, uint64_t bytes, gaddr to, bool *ok);

#endif
