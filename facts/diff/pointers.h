/* pointers.h - do two words of two recordings mean the same?
 *
 * SPDX-License-Identifier: MIT
 *
 * Each run has its memory elsewhere. Pointers mean the same if they lead to the same place of a
 * file that is mapped; to the same byte of one block, which both recordings allocated in an event
 * that they have in common; to the same distance on a stack from the frame that reads it, or from
 * where the thread's own code begins.
 * Pointers to other memory are compared by their place in the page alone.
 */
#ifndef FACTS_DIFF_POINTERS_H
#define FACTS_DIFF_POINTERS_H

#include "facts/diff/paths.h"
#include "facts/heap/heap.h"

/* One recording. */
struct pointers_side {
    struct study *study;
    const struct paths *paths;
    const struct heap *heap;
    uint64_t *block; /* the event that each is from; 0: one that the other does not have */
    uint64_t canary; /* 0: not known yet */
};

struct pointers {
    struct pointers_side side[2];
    const uint32_t *match;
};

/* A word that a recording read. */
struct pointers_word {
    uint64_t value;
    uint64_t insn; /* about when */
    gaddr cfa;     /* of the frame; 0: not known */
};

/* `match` has the second recording's thread of each of the first, or PATHS_NONE; moments have their
 * pairs. Both are kept. */
int pointers_init(struct pointers *p, const uint32_t *match, struct err *err);
void pointers_deinit(struct pointers *p);

bool pointers_same(const struct pointers *p, const struct pointers_word word[2]);

#endif
