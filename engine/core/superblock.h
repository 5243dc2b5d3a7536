/* superblock.h - the translation of a path through several blocks.
 *
 * SPDX-License-Identifier: MIT
 *
 * A path is a list of blocks that were executed one after the other. Its superblock has one way in,
 * at the head, and side exits wherever the target may leave the path. hot.h says which paths are
 * worth it. The baton is held.
 */
#ifndef ENGINE_CORE_SUPERBLOCK_H
#define ENGINE_CORE_SUPERBLOCK_H

#include "engine/core/cache.h"
#include "engine/core/translate.h"

struct path {
    gaddr pc[SUPERBLOCK_BLOCKS];
    int count;
    gaddr next; /* where it went on after the last block; the head: it is a loop */
};

/* Makes a superblock and gives it to its head. False: it cannot be made, or is not worth it. */
bool superblock_make(struct block *head, const struct path *path, const struct code_source *src,
                     const struct translate_options *opt);

#endif
