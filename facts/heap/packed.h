/* packed.h - calls of allocators, as they are kept beside a trace. SPDX-License-Identifier: MIT */
#ifndef FACTS_HEAP_PACKED_H
#define FACTS_HEAP_PACKED_H

#include "facts/heap/heap.h"

struct packed_call {
    uint64_t first, insns, over, ticks; /* each from the one before it */
    uint64_t back; /* so many calls before gave out what the pointer is told from; 0: none did */
    uint32_t thread, function;
    uint32_t stack, known;
    uint64_t arg[HEAP_ARGUMENTS];
    uint64_t result;
};

/* As many as there are calls; to be freed. NULL: no memory. */
struct packed_call *packed_new(const struct heap *h);
/* Fills in the calls of a heap whose functions and stacks are known. False: they are not sound, or
 * there is no memory. */
bool packed_read(struct heap *h, const struct packed_call *list, size_t count);

#endif
