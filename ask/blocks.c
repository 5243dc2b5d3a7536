/* blocks.c - words for blocks of memory. SPDX-License-Identifier: MIT */
#include "ask/blocks.h"

#include <inttypes.h>
#include <string.h>

struct position blocks_position(const struct study *s, const struct heap *h, uint32_t call)
{
    const struct heap_call *c = &h->call[call];
    return (struct position){.thread = trace_thread(s->trace, c->thread),
                             .count = c->count,
                             .pc = h->functions.list[c->function].entry};
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void blocks_place(struct study *s, gaddr pc, char *buf, size_t room)
{
    struct source_line l = {.module = NULL};
    source_line(s->source, pc, &l);
    if (l.file)
        snprintf(buf, room, "%s:%" PRIu32, base_name(l.file), l.line);
    else
        source_name(s->source, pc, buf, room);
}

void blocks_caller(struct study *s, const struct heap *h, uint32_t call, char *buf, size_t room)
{
    const struct heap_call *c = &h->call[call];
    char place[BLOCKS_TEXT / 2];
    blocks_place(s, heap_caller(h, s, c->stack), place, sizeof place);
    snprintf(buf, room, "%s (T%" PRIu32 ")", place, trace_thread(s->trace, c->thread));
}

const char *blocks_function(const struct heap *h, uint32_t call)
{
    const struct heap_function *f = &h->functions.list[h->call[call].function];
    static const char *const names[][2] = {
        [HEAP_NEW] = {"operator new", "operator delete"},
        [HEAP_NEW_ARRAY] = {"operator new[]", "operator delete[]"}};
    return f->family == HEAP_NEW || f->family == HEAP_NEW_ARRAY
               ? names[f->family][f->does == HEAP_FREES]
               : f->name;
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
