/* wanted.c - the bytes of memory whose last definition is being looked for.
 * SPDX-License-Identifier: MIT */
#include "slicer/walk/wanted.h"

#include <stdlib.h>

#include "base/array.h"

void wanted_deinit(struct wanted *w)
{
    for (size_t i = 0; i < w->page.room; i++)
        free(w->page.slot[i].bits);
    free(w->page.slot);
    *w = (struct wanted){0};
}

enum { PAGES_MOST = 1 << 20 }; /* of 4 GiB; a stranger's trace may name terabytes */

/* ---- pages ---- */

uint64_t *wanted_find_page(struct wanted *w, gaddr number)
{
    uint64_t *bits = w->page.room ? table_find(&w->page, number)->bits : NULL;
    w->last[number % WANTED_LAST] = (struct wanted_page){number, bits};
    return bits;
}

static uint64_t *make(struct wanted *w, gaddr number)
{
    uint64_t *bits = wanted_page(w, number);
    if (bits)
        return bits;
    if (w->page.used == PAGES_MOST || table_reserve(&w->page))
        return NULL;
    bits = calloc(WANTED_WORDS, sizeof *bits);
    if (!bits)
        return NULL;
    w->last[number % WANTED_LAST] = (struct wanted_page){number, bits};
    *table_find(&w->page, number) = (struct wanted_page){number, bits};
    w->page.used++;
    return bits;
}

/* ---- words ---- */

/* A part of a range that is in one word. */
struct part {
    gaddr page; /* number plus one */
    unsigned word;
    uint64_t mask;
};

/* The first part of [addr, addr + bytes); moves on behind it. */
static inline struct part part(gaddr *addr, uint64_t *bytes)
{
    unsigned first = *addr % 64, n = 64 - first;
    if (n > *bytes)
        n = (unsigned)*bytes;
    struct part p = {(*addr >> WANTED_SHIFT) + 1, (unsigned)(*addr / 64 % WANTED_WORDS),
                     (n < 64 ? (1ull << n) - 1 : ~0ull) << first};
    *addr += n;
    *bytes -= n;
    return p;
}

static bool add_bits(struct wanted *w, gaddr page, unsigned word, uint64_t bits)
{
    uint64_t *at = make(w, page);
    if (!at)
        return false;
    w->live += !at[word];
    at[word] |= bits;
    return true;
}

bool wanted_add_range(struct wanted *w, gaddr addr, uint64_t bytes)
{
    while (bytes) {
        struct part p = part(&addr, &bytes);
        if (!add_bits(w, p.page, p.word, p.mask))
            return false;
    }
    return true;
}

/* Gives out the bits of the mask that were set, and clears them. */
static inline uint64_t take_bits(struct wanted *w, uint64_t *word, uint64_t mask)
{
    mask &= *word;
    *word &= ~mask;
    w->live -= mask && !*word;
    return mask;
}

/* ---- ranges ---- */

/* Word `i` of a page and the range: bits for what is in both. */
static uint64_t overlap(gaddr page, unsigned i, gaddr addr, uint64_t bytes)
{
    gaddr at = ((page - 1) << WANTED_SHIFT) + 64ull * i;
    uint64_t mask = ~0ull;
    if (at < addr)
        mask = addr - at < 64 ? mask << (addr - at) : 0;
    if (at + 63 > addr + bytes - 1)
        mask &= at <= addr + bytes - 1 ? ~0ull >> (63 - (addr + bytes - 1 - at)) : 0;
    return mask;
}

/* What a walk over the set bits of a range does with a word; false ends it. */
typedef bool visit(struct wanted *w, gaddr at, uint64_t *word, uint64_t bits, void *arg);

static bool visit_page(struct wanted *w, const struct wanted_page *p, gaddr addr, uint64_t bytes,
                       visit *fn, void *arg)
{
    for (unsigned i = 0; i < WANTED_WORDS; i++) {
        uint64_t bits = p->bits[i] ? p->bits[i] & overlap(p->number, i, addr, bytes) : 0;
        gaddr at = ((p->number - 1) << WANTED_SHIFT) + 64ull * i;
        if (bits && !fn(w, at, &p->bits[i], bits, arg))
            return false;
    }
    return true;
}

/* By pages, or if the range has more than there are, by what there is. */
static void visit_range(struct wanted *w, gaddr addr, uint64_t bytes, visit *fn, void *arg)
{
    gaddr first = (addr >> WANTED_SHIFT) + 1, last = ((addr + bytes - 1) >> WANTED_SHIFT) + 1;
    if (last - first > w->page.room) {
        for (size_t i = 0; i < w->page.room; i++)
            if (w->page.slot[i].number >= first && w->page.slot[i].number <= last &&
                !visit_page(w, &w->page.slot[i], addr, bytes, fn, arg))
                return;
        return;
    }
    for (gaddr n = first; n <= last; n++) {
        struct wanted_page p = {n, wanted_page(w, n)};
        if (p.bits && !visit_page(w, &p, addr, bytes, fn, arg))
            return;
    }
}

enum { SMALL = 1 << WANTED_SHIFT };

static bool find(struct wanted *w, gaddr at, uint64_t *word, uint64_t bits, void *arg)
{
    (void)w, (void)at, (void)word, (void)bits;
    *(bool *)arg = true;
    return false;
}

static bool take(struct wanted *w, gaddr at, uint64_t *word, uint64_t bits, void *arg)
{
    (void)at;
    *(bool *)arg |= take_bits(w, word, bits) != 0;
    return true;
}

/* What find or take says about a range. Nearly all ranges are small: there, the callers' functions
 * must become part of the loop. */
__attribute__((always_inline)) static inline bool visit_any(struct wanted *w, gaddr addr,
                                                            uint64_t bytes, visit *fn)
{
    bool any = false;
    if (!w->live || !bytes)
        return false;
    if (bytes > SMALL) {
        visit_range(w, addr, bytes, fn, &any);
        return any;
    }
    for (gaddr at = addr; bytes; at = addr) {
        struct part p = part(&addr, &bytes);
        uint64_t *page = wanted_page(w, p.page), bits = page ? page[p.word] & p.mask : 0;
        if (bits && !fn(w, at, &page[p.word], bits, &any))
            break;
    }
    return any;
}

bool wanted_any_range(struct wanted *w, gaddr addr, uint64_t bytes)
{
    return visit_any(w, addr, bytes, find);
}

bool wanted_take_range(struct wanted *w, gaddr addr, uint64_t bytes)
{
    return visit_any(w, addr, bytes, take);
}

/* ---- moves ---- */

struct moved {
    struct moved_word {
        gaddr at;
        uint64_t bits;
    } * word;
    size_t words, room;
    bool ok;
};

static bool collect(struct wanted *w, gaddr at, uint64_t *word, uint64_t bits, void *arg)
{
    struct moved *m = arg;
    if (array_reserve(&m->word, &m->room, m->words + 1))
        return m->ok = false;
    m->word[m->words++] = (struct moved_word){at, take_bits(w, word, bits)};
    return true;
}

bool wanted_move(struct wanted *w, gaddr from, uint64_t bytes, gaddr to, bool *ok)
{
    struct moved m = {.ok = true};
    if (!w->live || !bytes)
        return false;
    visit_range(w, from, bytes, collect, &m);
    for (size_t i = 0; i < m.words; i++) {
        gaddr at = m.word[i].at - from + to;
        unsigned shift = at % 64;
        gaddr next = at + 64;
        uint64_t low = m.word[i].bits << shift, high = shift ? m.word[i].bits >> (64 - shift) : 0;
        if (low)
            m.ok &= add_bits(w, (at >> WANTED_SHIFT) + 1, (unsigned)(at / 64 % WANTED_WORDS), low);
        if (high)
            m.ok &=
                add_bits(w, (next >> WANTED_SHIFT) + 1, (unsigned)(next / 64 % WANTED_WORDS), high);
    }
    *ok &= m.ok;
    free(m.word);
    return m.words;
}

/* ---- all of it ---- */

static int by_number(const void *a, const void *b)
{
    const struct wanted_page *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_wanted(const struct wanted_page *p, unsigned byte)
{
    return p->bits[byte / 64] >> byte % 64 & 1;
}

bool wanted_each(const struct wanted *w, wanted_fn *fn, void *arg)
{
    struct wanted_page *page = malloc((w->page.used + 1) * sizeof *page);
    size_t pages = 0;
    gaddr from = 0, to = 0; /* what is not told yet */
    int end = 0;
    if (!page)
        return false;
    for (size_t i = 0; i < w->page.room; i++)
        if (w->page.slot[i].number && w->page.slot[i].bits)
            page[pages++] = w->page.slot[i];
    qsort(page, pages, sizeof *page, by_number);
    for (size_t i = 0; i < pages; i++)
        for (unsigned byte = 0; !end && byte < 1u << WANTED_SHIFT; byte++) {
            const gaddr at = ((page[i].number - 1) << WANTED_SHIFT) + byte;
            if (!is_wanted(&page[i], byte))
                continue;
            if (at != to) {
                end = to > from ? fn(arg, from, to - from) : 0;
                from = at;
            }
            to = at + 1;
        }
    if (!end && to > from)
        fn(arg, from, to - from);
    free(page);
    return true;
}
