/* shadow.c - what is known of each byte of memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * Pages all of whose bytes are undefined, or taken back, share one: large blocks cost nothing until
 * they are written.
 */
#include "facts/heap/shadow.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = SHADOW_PAGE / 8, FREED_WORDS = SHADOW_PAGE / 64 };

static uint8_t all_undefined[SHADOW_PAGE];
static uint64_t all_freed[FREED_WORDS];

int shadow_init(struct shadow *s)
{
    memset(s, 0, sizeof *s);
    memset(all_undefined, 0xff, sizeof all_undefined);
    memset(all_freed, 0xff, sizeof all_freed);
    return table_reserve(&s->pages);
}

static void set_undefined(struct shadow_page *p, uint8_t *to)
{
    if (p->undefined != all_undefined)
        free(p->undefined);
    p->undefined = to;
}

static void set_freed(struct shadow_page *p, uint64_t *to)
{
    if (p->freed != all_freed)
        free(p->freed);
    p->freed = to;
}

void shadow_deinit(struct shadow *s)
{
    for (size_t i = 0; i < s->pages.room; i++) {
        struct shadow_page *p = s->pages.slot[i].page;
        if (!p)
            continue;
        set_undefined(p, NULL);
        set_freed(p, NULL);
        free(p->tag);
        free(p->origin);
        free(p);
    }
    free(s->pages.slot);
    s->pages.slot = NULL;
    s->pages.room = 0;
}

struct shadow_page *shadow_look(struct shadow *s, uint64_t number, bool make)
{
    unsigned i = number % SHADOW_CACHE;
    struct shadow_slot *slot = table_find(&s->pages, number + 1);
    if (!slot->number && make) {
        struct shadow_page *p = calloc(1, sizeof *p);
        if (!p || table_reserve(&s->pages)) {
            free(p);
            s->failed = true;
            return NULL;
        }
        slot = table_find(&s->pages, number + 1);
        *slot = (struct shadow_slot){number + 1, p};
        s->pages.used++;
    }
    s->cache[i].number = number + 1;
    s->cache[i].page = slot->page;
    return slot->page;
}

/* A page to write to: its own bits, and not those that pages share. */
static uint8_t *own_undefined(struct shadow *s, struct shadow_page *p)
{
    if (p->undefined && p->undefined != all_undefined)
        return p->undefined;
    uint8_t *new = p->undefined ? malloc(SHADOW_PAGE) : calloc(1, SHADOW_PAGE);
    if (!new) {
        s->failed = true;
        return NULL;
    }
    if (p->undefined)
        memset(new, 0xff, SHADOW_PAGE);
    return p->undefined = new;
}

static uint64_t *own_freed(struct shadow *s, struct shadow_page *p)
{
    if (p->freed && p->freed != all_freed)
        return p->freed;
    uint64_t *new = p->freed ? malloc(sizeof all_freed) : calloc(1, sizeof all_freed);
    if (!new) {
        s->failed = true;
        return NULL;
    }
    if (p->freed)
        memcpy(new, all_freed, sizeof all_freed);
    return p->freed = new;
}

/* ---- a few bytes ---- */

static uint8_t byte_at(struct shadow *s, gaddr addr)
{
    const struct shadow_page *p = shadow_page(s, addr);
    return p && p->undefined ? p->undefined[addr % SHADOW_PAGE] : 0;
}

uint64_t shadow_get_slow(struct shadow *s, gaddr addr, unsigned bytes)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes && i < 8; i++)
        bits |= (uint64_t)byte_at(s, addr + i) << 8 * i;
    return bits;
}

static void put_byte(struct shadow *s, gaddr addr, uint8_t bits)
{
    struct shadow_page *p = shadow_look(s, addr / SHADOW_PAGE, bits != 0);
    unsigned at = addr % SHADOW_PAGE;
    if (!p)
        return;
    if (p->tag)
        p->tag[at / 8] = 0;
    if ((p->undefined ? p->undefined[at] : 0) != bits && own_undefined(s, p))
        p->undefined[at] = bits;
}

void shadow_put_slow(struct shadow *s, gaddr addr, unsigned bytes, uint64_t bits)
{
    struct shadow_page *p = shadow_page(s, addr);
    unsigned at = addr % SHADOW_PAGE;
    if (p && at + bytes <= SHADOW_PAGE && p->undefined && p->undefined != all_undefined) {
        memcpy(p->undefined + at, &bits, bytes);
        if (p->tag)
            p->tag[at / 8] = p->tag[(at + bytes - 1) / 8] = 0;
        if (p->origin)
            p->origin[at / 8] = p->origin[(at + bytes - 1) / 8] = 0;
        return;
    }
    for (unsigned i = 0; i < bytes && i < 8; i++)
        put_byte(s, addr + i, (uint8_t)(bits >> 8 * i));
}

void shadow_set_tag(struct shadow *s, gaddr addr, uint32_t tag)
{
    struct shadow_page *p = shadow_page(s, addr);
    if (addr % 8 || (!tag && (!p || !p->tag)))
        return;
    p = p ? p : shadow_look(s, addr / SHADOW_PAGE, true);
    if (p && !p->tag && !(p->tag = calloc(WORDS, sizeof *p->tag)))
        s->failed = true;
    if (p && p->tag)
        p->tag[addr % SHADOW_PAGE / 8] = tag;
}

uint32_t shadow_origin(struct shadow *s, gaddr addr, unsigned bytes)
{
    for (gaddr a = addr & ~(gaddr)7; a < addr + bytes; a += 8) {
        const struct shadow_page *p = shadow_page(s, a);
        if (p && p->origin && p->origin[a % SHADOW_PAGE / 8])
            return p->origin[a % SHADOW_PAGE / 8];
    }
    return 0;
}

void shadow_set_origin(struct shadow *s, gaddr addr, unsigned bytes, uint32_t origin)
{
    for (gaddr a = addr & ~(gaddr)7; a < addr + bytes; a += 8) {
        struct shadow_page *p = shadow_look(s, a / SHADOW_PAGE, true);
        if (p && !p->origin && !(p->origin = calloc(WORDS, sizeof *p->origin)))
            s->failed = true;
        if (p && p->origin)
            p->origin[a % SHADOW_PAGE / 8] = origin;
    }
}

/* ---- ranges ---- */

/* The part of a range that is in the page of its beginning. */
static uint64_t in_page(gaddr addr, uint64_t bytes)
{
    uint64_t room = SHADOW_PAGE - addr % SHADOW_PAGE;
    return bytes < room ? bytes : room;
}

static void fill_page(struct shadow *s, gaddr addr, unsigned bytes, bool undefined)
{
    struct shadow_page *p = shadow_page(s, addr);
    unsigned at = addr % SHADOW_PAGE;
    if (!p && undefined)
        p = shadow_look(s, addr / SHADOW_PAGE, true);
    if (!p)
        return;
    unsigned words = (at + bytes - 1) / 8 - at / 8 + 1;
    if (p->tag)
        memset(p->tag + at / 8, 0, words * sizeof *p->tag);
    if (p->origin)
        memset(p->origin + at / 8, 0, words * sizeof *p->origin);
    if (bytes == SHADOW_PAGE)
        set_undefined(p, undefined ? all_undefined : NULL);
    else if ((undefined ? p->undefined != all_undefined : p->undefined != NULL) &&
             own_undefined(s, p))
        memset(p->undefined + at, undefined ? 0xff : 0, bytes);
}

/* Does the range have more pages than there are? A sanitizer maps terabytes. */
static bool is_wide(const struct shadow *s, uint64_t bytes)
{
    return bytes / SHADOW_PAGE > s->pages.room;
}

/* The part of the range in a page that there is: *bytes from *addr on; 0: none. */
static void part_of(const struct shadow_slot *slot, gaddr *addr, uint64_t *bytes)
{
    gaddr first = slot->number ? (slot->number - 1) * SHADOW_PAGE : 0, end = *addr + *bytes;
    gaddr last = first + SHADOW_PAGE;
    *addr = first > *addr ? first : *addr;
    last = last < end ? last : end;
    *bytes = slot->number && *addr < last ? last - *addr : 0;
}

/* What is defined, or was not freed, needs no page: in a wide range only those that are there
 * change. */
static void clear_wide(struct shadow *s, gaddr addr, uint64_t bytes,
                       void (*clear)(struct shadow *s, gaddr addr, unsigned bytes, bool set))
{
    for (size_t i = 0; i < s->pages.room; i++) {
        gaddr at = addr;
        uint64_t part = bytes;
        part_of(&s->pages.slot[i], &at, &part);
        if (part)
            clear(s, at, (unsigned)part, false);
    }
}

void shadow_fill(struct shadow *s, gaddr addr, uint64_t bytes, bool undefined)
{
    if (!undefined && is_wide(s, bytes)) {
        clear_wide(s, addr, bytes, fill_page);
        return;
    }
    for (uint64_t part; bytes && !s->failed; addr += part, bytes -= part) {
        part = in_page(addr, bytes);
        fill_page(s, addr, (unsigned)part, undefined);
    }
}

static void free_page(struct shadow *s, gaddr addr, unsigned bytes, bool freed)
{
    struct shadow_page *p = shadow_page(s, addr);
    unsigned at = addr % SHADOW_PAGE;
    if (!p && freed)
        p = shadow_look(s, addr / SHADOW_PAGE, true);
    if (!p || (!freed && !p->freed))
        return;
    if (bytes == SHADOW_PAGE) {
        set_freed(p, freed ? all_freed : NULL);
        return;
    }
    if (!own_freed(s, p))
        return;
    for (unsigned i = at, n; i < at + bytes; i += n) {
        n = 64 - i % 64 < at + bytes - i ? 64 - i % 64 : at + bytes - i;
        uint64_t bits = ~0ull >> (64 - n) << i % 64;
        p->freed[i / 64] = freed ? p->freed[i / 64] | bits : p->freed[i / 64] & ~bits;
    }
}

void shadow_free(struct shadow *s, gaddr addr, uint64_t bytes, bool freed)
{
    if (!freed && is_wide(s, bytes)) {
        clear_wide(s, addr, bytes, free_page);
        return;
    }
    for (uint64_t part; bytes && !s->failed; addr += part, bytes -= part) {
        part = in_page(addr, bytes);
        free_page(s, addr, (unsigned)part, freed);
    }
}

bool shadow_is_freed_slow(struct shadow *s, gaddr addr, uint64_t bytes)
{
    for (; bytes; addr++, bytes--) {
        const struct shadow_page *p = shadow_page(s, addr);
        unsigned at = addr % SHADOW_PAGE;
        if (p && p->freed && p->freed[at / 64] >> at % 64 & 1)
            return true;
    }
    return false;
}

static bool is_blank(struct shadow *s, gaddr addr, uint64_t bytes)
{
    for (uint64_t part; bytes; addr += part, bytes -= part) {
        const struct shadow_page *p = shadow_page(s, addr);
        part = in_page(addr, bytes);
        if (p && (p->undefined || p->tag))
            return false;
    }
    return true;
}

void shadow_copy(struct shadow *s, gaddr to, gaddr from, uint64_t bytes)
{
    enum { MOST = 1 << 26 }; /* more is taken to be defined */
    if (is_blank(s, from, bytes) || bytes > MOST) {
        shadow_fill(s, to, bytes, false);
        return;
    }
    bool words = to % 8 == from % 8;
    uint8_t *bits = malloc(bytes);
    uint32_t *tag = words ? malloc((bytes / 8 + 2) * sizeof *tag) : NULL;
    s->failed |= !bits || (words && !tag);
    for (uint64_t i = 0; bits && i < bytes; i++)
        bits[i] = byte_at(s, from + i);
    uint64_t first = (8 - from % 8) % 8, n = 0;
    for (uint64_t i = first; tag && i + 8 <= bytes; i += 8)
        tag[n++] = shadow_tag(s, from + i);
    for (uint64_t i = 0; bits && i < bytes; i++)
        put_byte(s, to + i, bits[i]);
    n = 0;
    for (uint64_t i = first; tag && i + 8 <= bytes; i += 8)
        shadow_set_tag(s, to + i, tag[n++]);
    free(bits);
    free(tag);
}
