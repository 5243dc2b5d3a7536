/* blocks.c - words for blocks of memory. SPDX-License-Identifier: MIT */
#include "ask/blocks.h"

struct position blocks_position(const struct study *s, const struct heap *h, uint32_t call)
{
    const struct heap_call *c = &h->call[call];
    return (struct position){.thread = trace_thread(s->trace, c->thread),
                             .count = c->count,
                             .pc = h->functions.list[c->function].entry};
}

/* The user named a function for a pool, and the answer is without it. */
static void note_uncalled(struct asking *q, const struct heap *h)
{
    for (unsigned k = 0; k < sizeof h->functions.pair / sizeof *h->functions.pair; k++) {
        const char *name = h->functions.pair[k].name;
        size_t i = 0;
        while (i < h->calls && h->functions.list[h->call[i].function].name != name)
            i++;
        if (name && i == h->calls)
            rows_note(
                q->rows,
                "%s was never called: it is inlined, perhaps, or the compiler calls a copy of "
                "it (%s.constprop.0)",
                name, name);
    }
}

void blocks_note(struct asking *q, const struct heap *h)
{
    note_uncalled(q, h);
    size_t unknown = 0;
    for (size_t i = 0; i < h->calls; i++)
        unknown += !h->call[i].entered || (!h->call[i].returned && h->call[i].last != HEAP_NEVER);
    if (!h->calls)
        rows_note(q->rows, "no function that allocates is known by name, or none was called");
    if (unknown)
        rows_note(q->rows, "of %zu calls of allocator functions the values are not known", unknown);
}
