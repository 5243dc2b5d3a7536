/* translate.h - from target code to cache code.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_CORE_TRANSLATE_H
#define ENGINE_CORE_TRANSLATE_H

#include "engine/core/cache.h"
#include "engine/rt/types.h"

/* Where code bytes come from. fetch() copies up to `max` bytes of executable target memory at pc,
 * at most to the end of its page, and returns their number (0: nothing executable there). */
struct code_source {
    size_t (*fetch)(gaddr pc, uint8_t *out, size_t max);
    /* A block was made from [pc, pc+len): keep the engine told of changes. Returns true when
     * changes cannot be seen from outside and the block has to check its own bytes. Called before
     * emission. */
    bool (*watch)(gaddr pc, size_t len);
    /* May a block elsewhere rely on the code at pc until it is told of a change? */
    bool (*steady)(gaddr pc);
};

struct translate_options {
    bool one;         /* a single instruction, transient, never linked */
    bool bare;        /* without the ways in for transfers that tick */
    bool exact_flags; /* keep arithmetic flags even where no instruction reads them */
    gaddr region;     /* start of the mapping that pc lies in */
};

/* Returns the new block, or NULL when there is no executable byte at *fault. */
struct block *translate(gaddr pc, const struct code_source *src,
                        const struct translate_options *opt, gaddr *fault);

#endif
