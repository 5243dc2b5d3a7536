/* gist.c - what a chunk of a trace does, in short.
 *
 * SPDX-License-Identifier: MIT
 *
 * Memory that is written is bits in pages, one for each eight bytes; at the chunk's end they become
 * ranges, and those with the smallest gaps between them become one until there are few enough.
 */
#include "trace/gist.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "trace/classes.h"

enum { GRANULE = 3, PAGE = 9, WORDS = 1 << (PAGE - 6), LAST = 64, LARGE = 1 << 14 };

/* 512 granules. */
struct page {
    uint64_t number; /* plus one */
    uint64_t bits[WORDS];
};

struct gist_maker {
    const struct code *code;
    uint32_t threads;
    TABLE(struct page) page;
    struct {
        uint64_t number;
        uint64_t *bits;
    } last[LAST];             /* pages that were found last */
    struct gist_range *large; /* ranges with many pages */
    size_t larges, large_room;
    uint64_t *defines; /* by block: classes; 0: not known, see KNOWN */
    uint32_t *stamp;   /* by block: the chunk, plus one, in which it is listed */
    uint32_t chunk;
    uint32_t *block;
    size_t blocks, block_room;
    struct gist_thread *thread; /* by number; lowest 0: executes nothing */
    uint64_t serials;           /* of frames before the chunk */
    bool odd, failed;
};

static const uint64_t KNOWN = 1ull << 63;

/* ---- registers ---- */

/* All that the block may define. */
static uint64_t defined_by(const struct code_block *b)
{
    return KNOWN | classes_defined(b, 0, b->insns);
}

/* ---- making them ---- */

struct gist_maker *gist_maker_new(const struct code *code, uint32_t threads)
{
    struct gist_maker *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->code = code;
    m->threads = threads;
    m->chunk = 1;
    m->defines = calloc(code_count(code) + 1, sizeof *m->defines);
    m->stamp = calloc(code_count(code) + 1, sizeof *m->stamp);
    m->thread = calloc(threads + 1, sizeof *m->thread);
    if (m->defines && m->stamp && m->thread && !table_reserve(&m->page))
        return m;
    gist_maker_free(m);
    return NULL;
}

void gist_maker_free(struct gist_maker *m)
{
    if (!m)
        return;
    free(m->page.slot);
    free(m->large);
    free(m->defines);
    free(m->stamp);
    free(m->block);
    free(m->thread);
    free(m);
}

void gist_step(struct gist_maker *m, uint32_t thread, const struct code_block *b, uint64_t serial,
               bool stays)
{
    struct gist_thread *t = &m->thread[thread];
    if (!m->defines[b->number])
        m->defines[b->number] = defined_by(b);
    if (!t->lowest)
        *t = (struct gist_thread){thread, stays ? b->number + 1 : 0, 0, serial};
    t->defined |= m->defines[b->number];
    if (serial < t->lowest)
        t->lowest = serial;
    if (serial > m->serials || m->stamp[b->number] == m->chunk)
        return;
    m->stamp[b->number] = m->chunk;
    m->failed |= array_push(&m->block, &m->blocks, &m->block_room, b->number) != 0;
}

static uint64_t *find_page(struct gist_maker *m, uint64_t number)
{
    const size_t room = m->page.room;
    if (table_reserve(&m->page)) {
        m->failed = true;
        return NULL;
    }
    if (m->page.room != room) /* they have moved */
        memset(m->last, 0, sizeof m->last);
    struct page *p = table_find(&m->page, number);
    m->page.used += !p->number;
    p->number = number;
    m->last[number % LAST].number = number;
    m->last[number % LAST].bits = p->bits;
    return p->bits;
}

void gist_write(struct gist_maker *m, gaddr addr, uint64_t bytes)
{
    if (!bytes)
        return;
    gaddr last = addr + bytes - 1 < addr ? UINT64_MAX : addr + bytes - 1;
    if (bytes > LARGE) {
        m->failed |=
            array_push(&m->large, &m->larges, &m->large_room, (struct gist_range){addr, last}) != 0;
        return;
    }
    for (uint64_t g = addr >> GRANULE; g <= last >> GRANULE; g++) {
        uint64_t number = (g >> PAGE) + 1, *bits = m->last[number % LAST].bits;
        if (m->last[number % LAST].number != number && !(bits = find_page(m, number)))
            return;
        bits[g / 64 % WORDS] |= 1ull << g % 64;
    }
}

void gist_odd(struct gist_maker *m)
{
    m->odd = true;
}

/* ---- ranges ---- */

static int by_number(const void *a, const void *b)
{
    const struct page *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_address(const void *a, const void *b)
{
    const struct gist_range *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct ranges {
    struct gist_range *at;
    size_t count, room;
};

/* A range at or behind the last one's beginning. */
static bool add_range(struct ranges *r, struct gist_range new)
{
    struct gist_range *last = r->count ? &r->at[r->count - 1] : NULL;
    if (last && (new.addr <= last->last || new.addr == last->last + 1)) {
        last->last = new.last > last->last ? new.last : last->last;
        return true;
    }
    return !array_push(&r->at, &r->count, &r->room, new);
}

static bool add_page(struct ranges *r, const struct page *p)
{
    for (unsigned w = 0; w < WORDS; w++) {
        uint64_t bits = p->bits[w];
        while (bits) {
            unsigned first = (unsigned)__builtin_ctzll(bits);
            uint64_t rest = ~(bits >> first);
            unsigned n = rest ? (unsigned)__builtin_ctzll(rest) : 64 - first;
            gaddr addr = (((p->number - 1) << PAGE) + 64ull * w + first) << GRANULE;
            if (!add_range(r, (struct gist_range){addr, addr + ((gaddr)n << GRANULE) - 1}))
                return false;
            bits = first + n < 64 ? bits & (~0ull << (first + n)) : 0;
        }
    }
    return true;
}

/* Pages come first, then the large ranges; all of it in order, overlapping ones as one. */
static bool list_ranges(struct gist_maker *m, struct ranges *r)
{
    size_t pages = 0;
    for (size_t i = 0; i < m->page.room; i++)
        if (m->page.slot[i].number)
            m->page.slot[pages++] = m->page.slot[i];
    qsort(m->page.slot, pages, sizeof *m->page.slot, by_number);
    for (size_t i = 0; i < pages; i++)
        if (!add_page(r, &m->page.slot[i]))
            return false;
    if (!m->larges)
        return true;
    size_t before = r->count;
    for (size_t i = 0; i < m->larges; i++)
        if (array_push(&r->at, &r->count, &r->room, m->large[i]))
            return false;
    qsort(r->at, before + m->larges, sizeof *r->at, by_address);
    size_t all = r->count;
    r->count = 0;
    for (size_t i = 0; i < all; i++)
        if (!add_range(r, r->at[i]))
            return false;
    return true;
}

/* Closes all gaps that are no wider than a power of two, the smallest one that is enough. */
static void join_ranges(struct ranges *r, size_t most)
{
    size_t gaps[65] = {0}, left = r->count, kept = 0;
    unsigned width = 0;
    for (size_t i = 1; i < r->count; i++)
        gaps[64 - __builtin_clzll(r->at[i].addr - r->at[i - 1].last)]++;
    while (left > most && width < 64)
        left -= gaps[++width];
    for (size_t i = 1; i < r->count; i++) {
        unsigned gap = 64 - (unsigned)__builtin_clzll(r->at[i].addr - r->at[kept].last);
        if (gap <= width)
            r->at[kept].last = r->at[i].last;
        else
            r->at[++kept] = r->at[i];
    }
    r->count = r->count ? kept + 1 : 0;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* For the next chunk. */
static void clear(struct gist_maker *m, uint64_t serials)
{
    memset(m->page.slot, 0, sizeof *m->page.slot * m->page.room);
    memset(m->last, 0, sizeof m->last);
    memset(m->thread, 0, sizeof *m->thread * m->threads);
    m->page.used = m->larges = m->blocks = 0;
    m->odd = m->failed = false;
    m->serials = serials;
    m->chunk++;
}

static void *copy_of(const void *list, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (copy && bytes)
        memcpy(copy, list, bytes);
    return copy;
}

int gist_finish(struct gist_maker *m, uint64_t serials, uint32_t most, struct gist *out)
{
    struct ranges r = {0};
    *out = (struct gist){.odd = m->odd};
    bool good = !m->failed && list_ranges(m, &r);
    if (good)
        join_ranges(&r, most);
    if (m->blocks)
        qsort(m->block, m->blocks, sizeof *m->block, by_value);
    out->range = copy_of(r.at, sizeof *r.at * r.count);
    out->ranges = (uint32_t)r.count;
    out->block = copy_of(m->block, sizeof *m->block * m->blocks);
    out->blocks = (uint32_t)m->blocks;
    for (uint32_t i = 0; i < m->threads && good; i++) {
        m->thread[i].defined &= ~KNOWN;
        if (m->thread[i].lowest)
            good = !array_append(&out->thread, &out->threads, m->thread[i]);
    }
    good = good && out->range && out->block;
    clear(m, serials);
    free(r.at);
    if (!good)
        gist_deinit(out);
    return good ? 0 : -1;
}

void gist_deinit(struct gist *g)
{
    free(g->thread);
    free(g->range);
    free(g->block);
    *g = (struct gist){0};
}

/* ---- asking them ---- */

bool gist_writes(const struct gist *g, gaddr addr, uint64_t bytes)
{
    size_t i = search_below(g->range, g->ranges, last, addr);
    return i < g->ranges && bytes && g->range[i].addr <= addr + bytes - 1;
}

const struct gist_thread *gist_thread(const struct gist *g, uint32_t thread)
{
    for (uint32_t i = 0; i < g->threads; i++)
        if (g->thread[i].thread == thread)
            return &g->thread[i];
    return NULL;
}
