/* blocks.c - blocks, by the calls that made and ended them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Calls of threads overlap in time, so what they did is taken in the order of what counts: a block
 * is taken back when its call begins and given out when its call ends.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "facts/heap/heap.h"

/* The begin or the end of a call. */
struct moment {
    uint64_t insn;
    uint32_t call;
    bool ends;
};

/* The block that begins at an address and pool, and lives. */
struct living {
    uint64_t key; /* never 0 */
    uint32_t block;
};

struct builder {
    struct heap *h;
    TABLE(struct living) living;
};

static int by_insn(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static struct living *living_at(struct builder *b, gaddr start, unsigned pool)
{
    return table_reserve(&b->living) ? NULL
                                     : table_find(&b->living, start << 1 | pool | 1ull << 63);
}

static uint64_t size_of(const struct heap_function *f, const struct heap_call *c)
{
    uint64_t times = f->times == HEAP_ONCE ? 1 : c->arg[f->times];
    return c->arg[f->size] * times;
}

/* Ends the block at an address: it is what the call took back. */
static int end_block(struct builder *b, uint32_t call, gaddr start)
{
    struct heap_call *c = &b->h->call[call];
    struct living *l = living_at(b, start, heap_pool(&b->h->functions.list[c->function]));
    if (!l)
        return -1;
    if (!l->key || l->block == HEAP_NONE)
        return 0;
    struct heap_block *k = &b->h->block[l->block];
    k->to = c->first;
    k->freed = call;
    c->took = l->block;
    l->block = HEAP_NONE;
    return 0;
}

static int give_block(struct builder *b, uint32_t call)
{
    struct heap *h = b->h;
    struct heap_call *c = &h->call[call];
    const struct heap_function *f = &h->functions.list[c->function];
    struct heap_block k = {.start = c->result,
                           .size = size_of(f, c),
                           .from = c->last,
                           .to = HEAP_NEVER,
                           .allocated = call,
                           .freed = HEAP_NONE,
                           .next = HEAP_NONE,
                           .family = f->family};
    struct living *l = living_at(b, k.start, heap_pool(f));
    if (!l)
        return -1;
    /* One that was taken back unseen, by a function without a name. */
    if (l->key && l->block != HEAP_NONE)
        h->block[l->block].to = c->first;
    b->living.used += !l->key;
    *l = (struct living){k.start << 1 | heap_pool(f) | 1ull << 63, (uint32_t)h->blocks};
    c->block = (uint32_t)h->blocks;
    if (c->took != HEAP_NONE && h->block[c->took].start == k.start)
        h->block[c->took].next = c->block;
    return array_push(&h->block, &h->blocks, &h->block_room, k);
}

/* It may be used to its very end from now on. */
static int measure(struct builder *b, const struct heap_call *c)
{
    const struct heap_function *f = &b->h->functions.list[c->function];
    struct living *l = living_at(b, c->arg[f->size], heap_pool(f));
    if (!l)
        return -1;
    if (l->key && l->block != HEAP_NONE && b->h->block[l->block].size < c->result)
        b->h->block[l->block].size = c->result;
    return 0;
}

static int take_moment(struct builder *b, const struct moment *m)
{
    struct heap_call *c = &b->h->call[m->call];
    const struct heap_function *f = &b->h->functions.list[c->function];
    if (!c->entered)
        return 0;
    if (!m->ends) {
        if (f->does == HEAP_FREES)
            return end_block(b, m->call, c->arg[f->size]);
        /* realloc takes nothing back if it fails */
        if (f->does == HEAP_REALLOCATES && c->returned && (c->result || !size_of(f, c)))
            return end_block(b, m->call, c->arg[0]);
        return 0;
    }
    if (!c->returned || !c->result || f->does == HEAP_FREES || f->does == HEAP_TIDIES)
        return 0;
    return f->does == HEAP_MEASURES ? measure(b, c) : give_block(b, m->call);
}

/* ---- by address ---- */

static int by_start(const void *a, const void *b)
{
    const struct heap_place *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static int sort_blocks(struct heap *h, struct err *err)
{
    h->by_start = malloc(sizeof *h->by_start * (h->blocks + 1));
    h->reach = malloc(sizeof *h->reach * (h->blocks + 1));
    if (!h->by_start || !h->reach)
        return err_set(err, "no memory");
    for (size_t i = 0; i < h->blocks; i++)
        h->by_start[i] = (struct heap_place){h->block[i].start, i};
    qsort(h->by_start, h->blocks, sizeof *h->by_start, by_start);
    for (size_t i = 0; i < h->blocks; i++) {
        const struct heap_block *k = &h->block[h->by_start[i].block];
        gaddr end = k->start + (k->size ? k->size : 1);
        h->reach[i] = i && h->reach[i - 1] > end ? h->reach[i - 1] : end;
    }
    return 0;
}

/* The first in by_start behind those that begin at or before the address. */
static size_t behind(const struct heap *h, gaddr addr)
{
    return search_upto(h->by_start, h->blocks, start, addr);
}

uint32_t heap_find(const struct heap *h, gaddr addr, uint64_t insn, bool dead)
{
    uint32_t last = HEAP_NONE;
    for (size_t i = behind(h, addr); i-- > 0 && h->reach[i] > addr;) {
        uint32_t n = (uint32_t)h->by_start[i].block;
        const struct heap_block *k = &h->block[n];
        if (addr - k->start >= (k->size ? k->size : 1) || k->from >= insn)
            continue;
        if (k->to >= insn)
            return n;
        if (last == HEAP_NONE || h->block[last].to < k->to)
            last = n;
    }
    return dead ? last : HEAP_NONE;
}

uint32_t heap_before(const struct heap *h, gaddr addr, uint64_t insn, uint64_t most)
{
    for (size_t i = behind(h, addr); i-- > 0 && h->reach[i] + most >= addr;) {
        const struct heap_block *k = &h->block[h->by_start[i].block];
        if (k->from < insn && k->to >= insn && k->start + k->size <= addr &&
            addr - (k->start + k->size) <= most)
            return (uint32_t)h->by_start[i].block;
    }
    return HEAP_NONE;
}

int heap_take_blocks(struct heap *h, struct err *err)
{
    struct builder b = {.h = h};
    struct moment *m = malloc(sizeof *m * (2 * h->calls + 1));
    size_t n = 0;
    int bad = m ? 0 : -1;
    for (size_t i = 0; !bad && i < h->calls; i++) {
        m[n++] = (struct moment){h->call[i].first, (uint32_t)i, false};
        if (h->call[i].last != HEAP_NEVER)
            m[n++] = (struct moment){h->call[i].last, (uint32_t)i, true};
    }
    if (!bad)
        qsort(m, n, sizeof *m, by_insn);
    for (size_t i = 0; !bad && i < n; i++)
        bad = take_moment(&b, &m[i]);
    free(m);
    free(b.living.slot);
    return bad ? err_set(err, "no memory") : sort_blocks(h, err);
}
