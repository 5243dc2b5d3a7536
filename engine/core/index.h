/* index.h - blocks by the address of their target code.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every first use of a transfer comes here, and in a large program the blocks themselves are in no
 * processor cache. So the table alone nearly always tells whether a block is there. Needs the
 * baton.
 */
#ifndef ENGINE_CORE_INDEX_H
#define ENGINE_CORE_INDEX_H

#include "engine/core/cache.h"

struct block *index_find(gaddr pc); /* or NULL */
void index_add(struct block *blk);  /* there must be none at its pc */
void index_remove(const struct block *blk);

#endif
