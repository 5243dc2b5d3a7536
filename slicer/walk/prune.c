/* prune.c - locations that carry no dependence because the user said so.
 *
 * SPDX-License-Identifier: MIT
 *
 * What is pruned everywhere is a set of locations and a sorted list of ranges. What is pruned for
 * some code only, variables of functions, is sorted by where that code begins; `reach` says how far
 * back one has to look for code that has not ended.
 */
#include "slicer/walk/prune.h"

#include <stdlib.h>

#include "base/search.h"

static int by_start(const void *a, const void *b)
{
    const struct prune_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int by_from(const void *a, const void *b)
{
    const struct slice_prune *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static uint64_t end_of(uint64_t start, uint64_t bytes)
{
    return bytes < UINT64_MAX - start ? start + bytes : UINT64_MAX;
}

static void add(struct prune *p, const struct slice_prune *x)
{
    if (x->from || x->to || x->kind == SLICE_PRUNE_FRAME) {
        p->local[p->locals++] = *x;
    } else if (x->kind == SLICE_PRUNE_MEMORY) {
        p->memory[p->memories++] = (struct prune_range){x->addr, end_of(x->addr, x->bytes)};
    } else if (x->addr < LOC_COUNT) {
        uint64_t most = LOC_COUNT - x->addr;
        loc_set_add(&p->reg, (unsigned)x->addr, (unsigned)(x->bytes < most ? x->bytes : most));
    }
}

/* Sorted, and those that touch become one. */
static void merge(struct prune *p)
{
    size_t n = 0;
    qsort(p->memory, p->memories, sizeof *p->memory, by_start);
    for (size_t i = 0; i < p->memories; i++) {
        const struct prune_range *r = &p->memory[i];
        if (n && r->start <= p->memory[n - 1].end) {
            if (r->end > p->memory[n - 1].end)
                p->memory[n - 1].end = r->end;
        } else {
            p->memory[n++] = *r;
        }
    }
    p->memories = n;
}

int prune_init(struct prune *p, const struct slice_options *o, struct err *err)
{
    *p = (struct prune){.any = o->prunes != 0};
    if (!p->any)
        return 0;
    p->memory = calloc(o->prunes, sizeof *p->memory);
    p->local = calloc(o->prunes, sizeof *p->local);
    p->reach = calloc(o->prunes, sizeof *p->reach);
    if (!p->memory || !p->local || !p->reach)
        return err_set(err, "no memory");
    for (size_t i = 0; i < o->prunes; i++)
        add(p, &o->prune[i]);
    merge(p);
    qsort(p->local, p->locals, sizeof *p->local, by_from);
    for (size_t i = 0; i < p->locals; i++)
        p->reach[i] = i && p->reach[i - 1] > p->local[i].to ? p->reach[i - 1] : p->local[i].to;
    return 0;
}

void prune_deinit(struct prune *p)
{
    free(p->memory);
    free(p->local);
    free(p->reach);
    *p = (struct prune){0};
}

/* Whether it is pruned at `at`; *until: as far as that holds, at most. */
static bool everywhere(const struct prune *p, bool memory, uint64_t at, uint64_t *until)
{
    if (!memory) {
        struct loc_span span = loc_set_next(&p->reg, (unsigned)at);
        bool in = span.count && span.first <= at;
        uint64_t edge = in ? span.first + span.count : span.first;
        if (span.count && edge < *until)
            *until = edge;
        return in;
    }
    size_t i = search_upto(p->memory, p->memories, end, at);
    bool in = i < p->memories && p->memory[i].start <= at;
    uint64_t edge = i == p->memories ? *until : in ? p->memory[i].end : p->memory[i].start;
    if (edge < *until)
        *until = edge;
    return in;
}

/* The same of what this code does not use. */
static bool here(const struct prune *p, const struct prune_user *by, bool memory, uint64_t at,
                 uint64_t *until)
{
    size_t i = search_upto(p->local, p->locals, from, by->pc);
    while (i-- > 0 && p->reach[i] > by->pc) {
        const struct slice_prune *x = &p->local[i];
        bool frame = x->kind == SLICE_PRUNE_FRAME;
        if (x->to <= by->pc || memory == (x->kind == SLICE_PRUNE_REGISTER) || (frame && !by->cfa))
            continue;
        uint64_t start = x->addr + (frame ? by->cfa : 0), end = end_of(start, x->bytes);
        bool in = at >= start && at < end;
        uint64_t edge = in ? end : start;
        if (edge > at && edge < *until)
            *until = edge;
        if (in)
            return true;
    }
    return false;
}

bool prune_look(const struct prune *p, const struct prune_user *by, bool memory, uint64_t *at,
                uint64_t end, uint64_t *count)
{
    while (*at < end) {
        uint64_t until = end;
        if (!everywhere(p, memory, *at, &until) && !here(p, by, memory, *at, &until)) {
            *count = until - *at;
            return true;
        }
        *at = until;
    }
    return false;
}
