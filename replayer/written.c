/* written.c - a set of bytes of memory: a bit for each, by pages. SPDX-License-Identifier: MIT */
#include "replayer/written.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

enum { PAGE = 4096, WORDS = PAGE / 64, HOLE = 24 /* a piece of its own costs so much */ };

struct page {
    uint64_t number; /* plus one */
    uint64_t bit[WORDS];
};

struct written {
    TABLE(struct page) pages;
    struct page *last;
};

struct written *written_new(void)
{
    return calloc(1, sizeof(struct written));
}

void written_free(struct written *w)
{
    if (w)
        free(w->pages.slot);
    free(w);
}

void written_empty(struct written *w)
{
    free(w->pages.slot);
    *w = (struct written){.last = NULL};
}

static struct page *page_of(struct written *w, uint64_t number)
{
    if (w->last && w->last->number == number + 1)
        return w->last;
    if (table_reserve(&w->pages))
        return NULL;
    struct page *p = table_find(&w->pages, number + 1);
    if (!p->number) {
        p->number = number + 1;
        w->pages.used++;
    }
    return w->last = p;
}

static void set(struct page *p, unsigned from, unsigned to)
{
    for (unsigned at = from; at < to;) {
        const unsigned end = (at | 63) + 1 < to ? (at | 63) + 1 : to;
        const uint64_t ones = end - at == 64 ? UINT64_MAX : (1ull << (end - at)) - 1;
        p->bit[at / 64] |= ones << at % 64;
        at = end;
    }
}

int written_add(struct written *w, uint64_t addr, uint64_t bytes)
{
    while (bytes) {
        const uint64_t in = addr % PAGE, n = bytes < PAGE - in ? bytes : PAGE - in;
        struct page *p = page_of(w, addr / PAGE);
        if (!p)
            return -1;
        set(p, (unsigned)in, (unsigned)(in + n));
        addr += n;
        bytes -= n;
    }
    return 0;
}

/* The first byte from `at` on that is in the set, or is not; PAGE: none. */
static unsigned find(const struct page *p, unsigned at, bool in)
{
    while (at < PAGE) {
        const uint64_t word = (in ? p->bit[at / 64] : ~p->bit[at / 64]) >> at % 64;
        if (word)
            return at + (unsigned)__builtin_ctzll(word);
        at = (at | 63) + 1;
    }
    return PAGE;
}

bool written_mask(const struct written *w, uint64_t addr, uint64_t bytes, uint8_t *mask)
{
    const struct page *p = w->pages.room ? table_find(&w->pages, addr / PAGE + 1) : NULL;
    const bool any = p && p->number;
    bool all = any;
    memset(mask, 0, (bytes + 7) / 8);
    for (uint64_t i = 0; any && i < bytes; i++) {
        const unsigned at = (unsigned)(addr % PAGE + i);
        const bool in = p->bit[at / 64] >> at % 64 & 1;
        mask[i / 8] |= (uint8_t)(in << i % 8);
        all = all && in;
    }
    return all;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = (*(struct page *const *)a)->number, y = (*(struct page *const *)b)->number;
    return x < y ? -1 : x > y;
}

static int each_piece(const struct page *p,
                      int (*fn)(void *arg, uint64_t addr, uint64_t bytes, struct err *err),
                      void *arg, struct err *err)
{
    const uint64_t base = (p->number - 1) * PAGE;
    for (unsigned from = find(p, 0, true); from < PAGE;) {
        unsigned to = find(p, from, false), next = find(p, to, true);
        while (next < PAGE && next - to <= HOLE) {
            to = find(p, next, false);
            next = find(p, to, true);
        }
        int bad = fn(arg, base + from, to - from, err);
        if (bad)
            return bad;
        from = next;
    }
    return 0;
}

int written_each(struct written *w,
                 int (*fn)(void *arg, uint64_t addr, uint64_t bytes, struct err *err), void *arg,
                 struct err *err)
{
    struct page **list = malloc((w->pages.used + 1) * sizeof *list);
    size_t n = 0;
    int bad = list ? 0 : err_set(err, "no memory");
    for (size_t i = 0; list && i < w->pages.room; i++)
        if (w->pages.slot[i].number)
            list[n++] = &w->pages.slot[i];
    if (list)
        qsort(list, n, sizeof *list, by_number);
    for (size_t i = 0; i < n && !bad; i++)
        bad = each_piece(list[i], fn, arg, err);
    free(list);
    return bad;
}
