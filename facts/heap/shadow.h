/* shadow.h - what is known of each byte of a program's memory, beside its value.
 *
 * SPDX-License-Identifier: MIT
 *
 * - Which bits are undefined: a byte for each byte, a bit for each bit, as memcheck has it.
 * - For each aligned word of 8 bytes: the block that the pointer in it was made from, as its number
 *   plus one (a *tag*); 0: not known, or no pointer.
 * - For each such word with undefined bits that was stored: where the value came from, as a number
 *   of the machine's list; 0: nobody has stored it.
 * - Which bytes belong to a block that was taken back.
 *
 * A page of which nothing is known has no shadow in memory: all of its bytes are defined.
 */
#ifndef FACTS_HEAP_SHADOW_H
#define FACTS_HEAP_SHADOW_H

#include "base/table.h"
#include "engine/x86/loc.h"

enum { SHADOW_PAGE = 4096, SHADOW_CACHE = 2048 };

struct shadow_page {
    uint8_t *undefined; /* NULL: no bit is */
    uint32_t *tag;      /* NULL: no word has one */
    uint32_t *origin;   /* likewise */
    uint64_t *freed;    /* a bit for each byte; NULL: none is */
};

struct shadow_slot {
    uint64_t number; /* plus one */
    struct shadow_page *page;
};

struct shadow {
    TABLE(struct shadow_slot) pages;
    struct {
        uint64_t number; /* plus one */
        struct shadow_page *page;
    } cache[SHADOW_CACHE];
    bool failed; /* no memory */
};

int shadow_init(struct shadow *s);
void shadow_deinit(struct shadow *s);

/* What they are made of; pages are found here if they were not asked for lately. */
struct shadow_page *shadow_look(struct shadow *s, uint64_t number, bool make);

static inline struct shadow_page *shadow_page(struct shadow *s, gaddr addr)
{
    uint64_t number = addr / SHADOW_PAGE;
    unsigned i = number % SHADOW_CACHE;
    return s->cache[i].number == number + 1 ? s->cache[i].page : shadow_look(s, number, false);
}

/* Undefined bits of at most 8 bytes, the lowest address in the lowest byte. */
uint64_t shadow_get_slow(struct shadow *s, gaddr addr, unsigned bytes);
static inline uint64_t shadow_get(struct shadow *s, gaddr addr, unsigned bytes)
{
    unsigned at = addr % SHADOW_PAGE;
    if (at > SHADOW_PAGE - 8)
        return shadow_get_slow(s, addr, bytes);
    struct shadow_page *p = shadow_page(s, addr);
    uint64_t bits;
    if (!p || !p->undefined)
        return 0;
    memcpy(&bits, p->undefined + at, sizeof bits);
    return bytes >= 8 ? bits : bits & ((1ull << 8 * bytes) - 1);
}

/* Sets them; the tags of these words are gone. */
void shadow_put_slow(struct shadow *s, gaddr addr, unsigned bytes, uint64_t bits);
static inline void shadow_put(struct shadow *s, gaddr addr, unsigned bytes, uint64_t bits)
{
    unsigned at = addr % SHADOW_PAGE;
    struct shadow_page *p = shadow_page(s, addr);
    if (bits || at > SHADOW_PAGE - 8) {
        shadow_put_slow(s, addr, bytes, bits);
        return;
    }
    if (!p)
        return;
    if (p->tag)
        p->tag[at / 8] = p->tag[(at + bytes - 1) / 8] = 0;
    if (p->undefined) {
        uint64_t old;
        memcpy(&old, p->undefined + at, sizeof old);
        old = bytes >= 8 ? old : old & ((1ull << 8 * bytes) - 1);
        if (old)
            shadow_put_slow(s, addr, bytes, 0);
    }
}

static inline uint32_t shadow_tag(struct shadow *s, gaddr addr)
{
    struct shadow_page *p = addr % 8 ? NULL : shadow_page(s, addr);
    return p && p->tag ? p->tag[addr % SHADOW_PAGE / 8] : 0;
}
void shadow_set_tag(struct shadow *s, gaddr addr, uint32_t tag);

/* The first origin that is not 0 in the words around at most 8 bytes. */
uint32_t shadow_origin(struct shadow *s, gaddr addr, unsigned bytes);
void shadow_set_origin(struct shadow *s, gaddr addr, unsigned bytes, uint32_t origin);

/* Ranges of any length. Setting bits also removes tags. */
void shadow_fill(struct shadow *s, gaddr addr, uint64_t bytes, bool undefined);
void shadow_free(struct shadow *s, gaddr addr, uint64_t bytes, bool freed);
/* Copies bits and tags, as a copy of the memory does. */
void shadow_copy(struct shadow *s, gaddr to, gaddr from, uint64_t bytes);

/* Was one of the bytes taken back? Not more than a page. */
bool shadow_is_freed_slow(struct shadow *s, gaddr addr, uint64_t bytes);
static inline bool shadow_is_freed(struct shadow *s, gaddr addr, uint64_t bytes)
{
    struct shadow_page *p = shadow_page(s, addr);
    if (addr % SHADOW_PAGE + bytes <= SHADOW_PAGE && (!p || !p->freed))
        return false;
    return shadow_is_freed_slow(s, addr, bytes);
}

#endif
