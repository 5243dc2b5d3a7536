/* leaks.h - blocks that nobody can reach any more when the recording ends.
 *
 * SPDX-License-Identifier: MIT
 *
 * As LeakSanitizer has it: roots are registers, stacks from the stack pointer on, thread-local
 * memory and the writable data of modules; a word that is an address in a block, its begin or not,
 * reaches it, and then what is in it counts, too. Blocks of the user's pool are not looked at.
 */
#ifndef FACTS_HEAP_LEAKS_H
#define FACTS_HEAP_LEAKS_H

#include "facts/heap/heap.h"

/* Blocks that were allocated by the same stack of calls. */
struct heap_leak {
    uint32_t stack;
    uint32_t block; /* the first of them */
    bool direct;    /* no other leaked block has a pointer to it */
    uint64_t blocks, bytes;
};

struct heap_leaks {
    struct heap_leak *list; /* by their first blocks */
    size_t count, room;
    uint64_t reachable; /* blocks that are not leaked */
};

/* Replays to the end. */
int heap_leaks(struct heap *h, struct study *s, struct heap_leaks *out, struct err *err);
void heap_leaks_deinit(struct heap_leaks *l);

#endif
