/* oracle_shadow.c - where each byte of memory got its value, and what is saved where.
 *
 * SPDX-License-Identifier: MIT
 *
 * Pages whose bytes are all from one source have no table, and parts of large ranges have no page
 * until something in them is written: programs reserve terabytes.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/slice/oracle_int.h"

enum { BUCKETS = 1 << 14, FEW = 64, LARGE = 16 << 20 };

struct page {
    gaddr addr;
    struct page *next;
    source all;   /* if there is no table */
    source *byte; /* NULL: none */
};

/* Whole pages, written at once. */
struct range {
    gaddr start, end;
    source what;
};

struct saved {
    struct arm arm;
    struct saved *next;
};

struct shadow {
    struct page *page[BUCKETS];
    struct saved *saved[BUCKETS];
    struct page *last;
    struct range *range; /* in the order in which they were written */
    size_t ranges, range_room;
};

static unsigned bucket(gaddr key)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15ull >> 50);
}

struct shadow *oracle_shadow_new(void)
{
    return oracle_zeros(1, sizeof(struct shadow));
}

void oracle_shadow_free(struct shadow *s)
{
    for (int i = 0; s && i < BUCKETS; i++) {
        for (struct page *next, *p = s->page[i]; p; p = next) {
            next = p->next;
            free(p->byte);
            free(p);
        }
        for (struct saved *next, *a = s->saved[i]; a; a = next) {
            next = a->next;
            free(a);
        }
    }
    if (s)
        free(s->range);
    free(s);
}

static source source_of_ranges(const struct shadow *s, gaddr addr)
{
    for (size_t i = s->ranges; i > 0; i--)
        if (addr - s->range[i - 1].start < s->range[i - 1].end - s->range[i - 1].start)
            return s->range[i - 1].what;
    return 0;
}

static struct page *page_of(struct shadow *s, gaddr addr, bool make)
{
    addr = PAGE_DOWN(addr);
    if (s->last && s->last->addr == addr)
        return s->last;
    struct page **at = &s->page[bucket(addr / PAGE_BYTES)], *p = *at;
    while (p && p->addr != addr)
        p = p->next;
    if (!p && make) {
        p = oracle_zeros(1, sizeof *p);
        p->addr = addr;
        p->all = source_of_ranges(s, addr);
        p->next = *at;
        *at = p;
    }
    if (p)
        s->last = p;
    return p;
}

source oracle_shadow_get(struct shadow *s, gaddr addr)
{
    const struct page *p = page_of(s, addr, false);
    return !p ? source_of_ranges(s, addr) : p->byte ? p->byte[addr % PAGE_BYTES] : p->all;
}

static void set_in_page(struct page *p, gaddr addr, uint64_t bytes, source what)
{
    if (bytes == PAGE_BYTES) {
        free(p->byte);
        p->byte = NULL;
        p->all = what;
        return;
    }
    if (!p->byte) {
        p->byte = oracle_zeros(PAGE_BYTES, sizeof *p->byte);
        for (unsigned i = 0; i < PAGE_BYTES; i++)
            p->byte[i] = p->all;
    }
    for (uint64_t i = 0; i < bytes; i++)
        p->byte[addr % PAGE_BYTES + i] = what;
}

static void set_large(struct shadow *s, gaddr start, gaddr end, source what)
{
    struct range r = {start, end, what};
    ORACLE_PUSH(s->range, s->ranges, s->range_room, r);
    for (int i = 0; i < BUCKETS; i++)
        for (struct page *p = s->page[i]; p; p = p->next)
            if (p->addr - start < end - start)
                set_in_page(p, p->addr, PAGE_BYTES, what);
}

void oracle_shadow_set(struct shadow *s, gaddr addr, uint64_t bytes, source what)
{
    if (bytes >= LARGE && addr % PAGE_BYTES == 0 && bytes % PAGE_BYTES == 0) {
        set_large(s, addr, addr + bytes, what);
        return;
    }
    while (bytes) {
        uint64_t n = PAGE_BYTES - addr % PAGE_BYTES;
        n = n < bytes ? n : bytes;
        set_in_page(page_of(s, addr, true), addr, n, what);
        addr += n;
        bytes -= n;
    }
}

/* ---- saved registers and return addresses ---- */

static void drop(struct shadow *s, gaddr addr)
{
    for (struct saved **at = &s->saved[bucket(addr)]; *at; at = &(*at)->next)
        if ((*at)->arm.addr == addr) {
            struct saved *gone = *at;
            *at = gone->next;
            free(gone);
            return;
        }
}

void oracle_shadow_disarm(struct shadow *s, gaddr addr, uint64_t bytes)
{
    if (bytes <= FEW) {
        for (uint64_t i = 0; bytes && i < bytes + 7; i++)
            drop(s, addr - 7 + i);
        return;
    }
    for (int i = 0; i < BUCKETS; i++)
        for (struct saved **at = &s->saved[i]; *at;) {
            struct saved *a = *at;
            if (a->arm.addr - (addr - 7) >= bytes + 7) {
                at = &a->next;
                continue;
            }
            *at = a->next;
            free(a);
        }
}

void oracle_shadow_arm(struct shadow *s, const struct arm *arm)
{
    struct saved **at = &s->saved[bucket(arm->addr)], *a = oracle_zeros(1, sizeof *a);
    *a = (struct saved){*arm, *at};
    *at = a;
}

const struct arm *oracle_shadow_armed(const struct shadow *s, gaddr addr)
{
    for (const struct saved *a = s->saved[bucket(addr)]; a; a = a->next)
        if (a->arm.addr == addr)
            return &a->arm;
    return NULL;
}
