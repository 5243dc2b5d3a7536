/* blocks.c - words for blocks of memory. SPDX-License-Identifier: MIT */
#include "ask/blocks.h"

struct position blocks_position(const struct study *s, const struct heap *h, uint32_t call)
{
    const struct heap_call *c = &h->call[call];
    return (struct position){.thread = trace_thread(s->trace, c->thread),
                             .count = c->count,
                             .pc = h->functions.list[c->function].entry};
}

void blocks_note(struct asking *q, const struct heap *h)
{
    size_t unknown = 0;
    for (size_t i = 0; i < h->calls; i++)
        unknown += !h->call[i].entered || (!h->call[i].returned && h->call[i].last != HEAP_NEVER);
    if (!h->calls)
        rows_note(q->rows, "no function that allocates is known by name, or none was called");
    if (unknown)
        rows_note(q->rows, "of %zu calls of allocator functions the values are not known", unknown);
}
