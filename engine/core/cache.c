/* cache.c - arenas, blocks and links.
 *
 * SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. Only the thread with the baton runs translated code or is in here; a thread without the baton
 *    holds no cache address. So a block can be killed and its unit reused at any call.
 * 2. A killed block cannot be reached: not by the index, not by a link, not by the lookup table.
 * 3. Blocks of a unit lie in the unit's code area in the order of its index, so a binary search
 *    finds a cache address.
 * 4. A unit's metadata (blocks, exits, fault points) lives and dies with the unit. It lies within
 *    2 GB of the runtime's base, so that an exit site is named by a 32-bit offset.
 */
#include "engine/core/cache.h"

#include "base/search.h"
#include "engine/core/engine.h"
#include "engine/core/index.h"
#include "engine/core/thread.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"

enum {
    UNITS = 8,
    ARENAS = 8,
    PAGE_HASH_BITS = 12,
    BLOCK_ROOM = 20 << 10, /* the largest block's code, with slack */
    COLD_ROOM = 8 << 10,   /* ... and what of it is rarely executed */
    META_ROOM = 32 << 10,
    META_FACTOR = 4, /* bytes of metadata reserved per byte of code */
};

#define NEAR (1500ull << 20) /* code within this distance of an arena may use it */

/* Memory that is used up from its start. */
struct area {
    uint8_t *start, *pos, *end;
    uint8_t *ready; /* up to here there are pages */
};

/* The hot code of the blocks, in order; their cold code, in the same order; their metadata, which
 * grows up, and their index, which grows down from meta.end. */
struct unit {
    struct area code, cold, meta;
    uint32_t count;
};

/* Units come one by one, as they are needed. */
struct arena {
    gaddr near; /* what its code has to be near to; 0: the runtime */
    struct unit unit[UNITS];
    int units, current;
};

static struct arena arenas[ARENAS];
static int arena_count;
static uint64_t unit_bytes; /* of code, half of it cold */
static int units_most;
static struct codepage *page_hash[1 << PAGE_HASH_BITS];
struct cache_stats cache_stats;
uint64_t cache_generation;

struct lookup_entry *cache_lookup(gaddr pc)
{
    return &engine.lookup[pc & (LOOKUP_SIZE - 1)];
}

/* Holds a pc that is never looked for there: 0, but in the first entry. */
static void lookup_clear(struct lookup_entry *e)
{
    e->pc = e == engine.lookup;
}

void cache_init(uint64_t bytes)
{
    engine.lookup = range_alloc(LOOKUP_SIZE * sizeof *engine.lookup);
    lookup_clear(engine.lookup);
    uint64_t least = 2 * (BLOCK_ROOM + COLD_ROOM);
    unit_bytes = PAGE_UP(bytes / UNITS < least ? least : bytes / UNITS);
    units_most = bytes / unit_bytes < 2 ? 2 : (int)(bytes / unit_bytes);
}

static struct area area_of(uint8_t *start, uint64_t bytes)
{
    return (struct area){start, start, start + bytes, start};
}

static bool unit_add(struct arena *a)
{
    struct unit *u = &a->unit[a->units];
    if (a->units == units_most)
        return false;
    uint8_t *code = range_alloc_near(a->near, unit_bytes, true);
    if (!code)
        return false;
    uint8_t *meta = range_alloc_near(0, unit_bytes * META_FACTOR, false);
    if (!meta) {
        range_free(code, unit_bytes);
        return false;
    }
    u->code = area_of(code, unit_bytes / 2);
    u->cold = area_of(code + unit_bytes / 2, unit_bytes / 2);
    u->meta = area_of(meta, unit_bytes * META_FACTOR);
    u->count = 0;
    a->current = a->units++;
    return true;
}

static bool far_from(const struct arena *a, gaddr pc)
{
    gaddr at = (gaddr)a->unit[0].code.start;
    return pc > at ? pc - at > NEAR : at - pc > NEAR;
}

static struct arena *arena_add(gaddr near)
{
    struct arena *a = &arenas[arena_count];
    if (arena_count == ARENAS)
        return NULL;
    a->near = near;
    if (!unit_add(a))
        return NULL;
    arena_count++;
    return a;
}

/* Code in the low 2 GB needs no near arena: its operands have 32-bit absolute addresses. */
static struct arena *arena_for(gaddr pc, gaddr region_start)
{
    if (!arena_count && !arena_add(0))
        rt_die("engine: no memory for the code cache");
    if (pc < 1ull << 31 || pc >> 47)
        return &arenas[0];
    for (int i = 0; i < arena_count; i++)
        if (!far_from(&arenas[i], pc))
            return &arenas[i];
    static gaddr hopeless; /* a region that has no room near it */
    struct arena *a = region_start == hopeless ? NULL : arena_add(region_start);
    if (a && !far_from(a, pc))
        return a;
    hopeless = region_start;
    return &arenas[0];
}

static struct block **unit_index(const struct unit *u)
{
    return (struct block **)u->meta.end; /* entry i is [-1 - i] */
}

static bool unit_has_room(const struct unit *u)
{
    uint8_t *index_end = u->meta.end - (u->count + 1) * sizeof(struct block *);
    return u->code.end - u->code.pos >= BLOCK_ROOM && u->cold.end - u->cold.pos >= COLD_ROOM &&
           index_end - u->meta.pos >= META_ROOM;
}

static void unit_recycle(struct unit *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        struct block *b = unit_index(u)[-1 - (int64_t)i];
        if (!b->dead) {
            cache_kill(b);
            cache_stats.evicted++;
        }
    }
    cache_generation++;
    u->count = 0;
    u->code.pos = u->code.start;
    u->cold.pos = u->cold.start;
    u->meta.pos = u->meta.start;
}

static void area_fill(struct area *a)
{
    range_fill(&a->ready, a->pos, a->end);
}

void cache_begin(struct build *b, gaddr pc, gaddr region_start)
{
    struct arena *a = arena_for(pc, region_start);
    struct unit *u = &a->unit[a->current];
    if (!unit_has_room(u)) {
        if (!unit_add(a)) {
            a->current = (a->current + 1) % a->units;
            unit_recycle(&a->unit[a->current]);
        }
        u = &a->unit[a->current];
    }
    area_fill(&u->code);
    area_fill(&u->cold);
    area_fill(&u->meta);
    b->arena = a;
    b->code = u->code.pos;
    b->code_end = u->code.end;
    b->cold = u->cold.pos;
    b->cold_end = u->cold.end;
    b->meta = u->meta.pos;
    b->meta_end = u->meta.end - (u->count + 1) * sizeof(struct block *);
}

void *cache_meta(struct build *b, size_t bytes)
{
    uint8_t *p = b->meta;
    bytes = (bytes + 15) & ~(size_t)15;
    rt_check(b->meta_end - p >= (int64_t)bytes);
    b->meta += bytes;
    memset(p, 0, bytes);
    return p;
}

struct block *cache_find(gaddr pc)
{
    return index_find(pc);
}

/* Uses `bytes` up, and what lies before the next multiple of `align`. */
static void area_use(struct area *a, uint64_t bytes, uint64_t align)
{
    rt_check(bytes <= (uint64_t)(a->end - a->pos));
    a->pos = (uint8_t *)(((uint64_t)a->pos + bytes + align - 1) & ~(align - 1));
}

void cache_commit(struct build *b, struct block *blk)
{
    struct unit *u = &b->arena->unit[b->arena->current];
    rt_check(b->meta <= b->meta_end);
    cache_stats.cache_bytes += blk->host_len + blk->cold_len;
    cache_stats.cold_bytes += blk->cold_len;
    unit_index(u)[-1 - (int64_t)u->count++] = blk;
    area_use(&u->code, blk->host_len, 16);
    area_use(&u->cold, blk->cold_len, 8);
    u->meta.pos = b->meta;
    if (blk->transient)
        return;
    if (!blk->base)
        index_add(blk);
}

void cache_depend(struct block *b, gaddr page)
{
    struct page_link *l = &b->pages[b->page_count++];
    struct codepage *p = cache_page(page);
    *l = (struct page_link){b, p, p->links, &p->links};
    if (p->links)
        p->links->prev = &l->next;
    p->links = l;
}

static void page_remove(struct page_link *l)
{
    *l->prev = l->next;
    if (l->next)
        l->next->prev = l->prev;
}

static void patch_rel32(uint8_t *at, const uint8_t *to)
{
    int64_t d = to - (at + 4);
    rt_check(d == (int32_t)d);
    memcpy(at, &(int32_t){(int32_t)d}, 4);
}

static void unlink_site(struct exit_site *s)
{
    if (!s->to)
        return;
    patch_rel32(s->patch, s->stub);
    *s->in_prev = s->in_next;
    if (s->in_next)
        s->in_next->in_prev = s->in_prev;
    s->to = NULL;
}

static const uint8_t *entry_for(const struct exit_site *s, const struct block *to)
{
    if (to->superblock && (s->tick || s->paid))
        to = to->superblock;
    return to->host + (s->tick ? to->tick_off : to->plain_off);
}

void cache_link(struct exit_site *s, struct block *to)
{
    if (s->to || to->transient || (s->tick && to->bare) || s->block->dead || s->block->transient)
        return;
    const uint8_t *entry = entry_for(s, to);
    int64_t d = entry - (s->patch + 4);
    if (d != (int32_t)d)
        return; /* another arena: stays an exit */
    patch_rel32(s->patch, entry);
    s->to = to;
    s->in_next = to->in;
    s->in_prev = &to->in;
    if (to->in)
        to->in->in_prev = &s->in_next;
    to->in = s;
}

void cache_unlink_plain(struct block *b)
{
    for (int i = 0; i < b->site_count; i++)
        if (!b->site[i].tick)
            unlink_site(&b->site[i]);
}

/* Lookups of pc lead to `to`, or nowhere. */
static void redirect_lookups(gaddr pc, const struct block *to)
{
    struct lookup_entry *e = cache_lookup(pc);
    if (e->pc != pc)
        return;
    if (to)
        e->host = to->host;
    else
        lookup_clear(e);
}

/* Links to the base follow its superblock as it comes and goes. */
static void relink(struct block *base)
{
    for (struct exit_site *s = base->in; s; s = s->in_next)
        patch_rel32(s->patch, entry_for(s, base));
    redirect_lookups(base->pc, base->superblock ? base->superblock : base);
}

void cache_attach(struct block *base, struct block *superblock)
{
    rt_check(!base->superblock && superblock->base == base && !base->bare);
    base->superblock = superblock;
    relink(base);
}

void cache_kill(struct block *b)
{
    if (b->dead)
        return;
    b->dead = true;
    if (b->transient)
        return;
    while (b->in)
        unlink_site(b->in);
    for (int i = 0; i < b->site_count; i++)
        unlink_site(&b->site[i]);
    for (int i = 0; i < b->page_count; i++)
        page_remove(&b->pages[i]);
    cache_stats.killed++;
    if (b->base) {
        b->base->superblock = NULL;
        relink(b->base);
        return;
    }
    if (b->superblock)
        cache_kill(b->superblock);
    index_remove(b);
    redirect_lookups(b->pc, NULL);
}

static void kill_page(struct codepage *p, void *unused)
{
    (void)unused;
    while (p->links)
        cache_kill(p->links->block);
}

void cache_kill_range(gaddr start, gaddr end)
{
    cache_pages(PAGE_DOWN(start), PAGE_UP(end), kill_page, NULL);
}

void cache_kill_all(void)
{
    cache_kill_range(0, ~0ull & ~(PAGE_BYTES - 1));
}

static const struct unit *unit_at(uint64_t host)
{
    for (int i = 0; i < arena_count; i++)
        for (int k = 0; k < arenas[i].units; k++) {
            const struct unit *u = &arenas[i].unit[k];
            if (host >= (uint64_t)u->code.start && host < (uint64_t)u->cold.end)
                return u;
        }
    return NULL;
}

bool cache_contains(uint64_t host)
{
    return unit_at(host);
}

uint64_t cache_from_low(uint32_t low)
{
    for (int i = 0; i < arena_count; i++)
        for (int k = 0; k < arenas[i].units; k++) {
            uint64_t code = (uint64_t)arenas[i].unit[k].code.start;
            uint64_t host = code + (uint32_t)(low - (uint32_t)code);
            if (host < (uint64_t)arenas[i].unit[k].cold.end)
                return host;
        }
    return low;
}

struct block *cache_block_at(uint64_t host)
{
    const struct unit *u = unit_at(host);
    const size_t behind =
        search_first(u ? u->count : 0, i, (uint64_t)unit_index(u)[-1 - (int64_t)i]->host <= host);
    struct block *b = behind ? unit_index(u)[-(int64_t)behind] : NULL;
    return b && host < (uint64_t)b->host + b->host_len ? b : NULL;
}

const struct fault_point *cache_fault_point(const struct block *b, uint64_t host)
{
    uint64_t off = host - (uint64_t)b->host;
    const struct fault_point *best = NULL;
    for (int i = 0; i < b->point_count && b->point[i].host_off <= off; i++)
        best = &b->point[i];
    return best;
}

gaddr cache_point_pc(const struct block *b, const struct fault_point *p)
{
    return (b->segment ? b->segment[p->segment] : b->pc) + p->guest_off;
}

static struct codepage **page_bucket(gaddr addr)
{
    return &page_hash[(addr >> 12 ^ addr >> 24) & ((1 << PAGE_HASH_BITS) - 1)];
}

struct codepage *cache_page_find(gaddr addr)
{
    struct codepage *p = *page_bucket(addr);
    while (p && p->addr != addr)
        p = p->next;
    return p;
}

struct codepage *cache_page(gaddr addr)
{
    struct codepage *p = cache_page_find(addr);
    if (p)
        return p;
    p = range_heap(sizeof *p);
    p->addr = addr;
    p->next = *page_bucket(addr);
    *page_bucket(addr) = p;
    return p;
}

void cache_pages(gaddr start, gaddr end, void (*fn)(struct codepage *, void *), void *arg)
{
    if ((end - start) / PAGE_BYTES < 1 << PAGE_HASH_BITS) {
        for (gaddr a = start; a < end; a += PAGE_BYTES) {
            struct codepage *p = cache_page_find(a);
            if (p)
                fn(p, arg);
        }
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(page_hash); i++)
        for (struct codepage *p = page_hash[i]; p; p = p->next)
            if (p->addr >= start && p->addr < end)
                fn(p, arg);
}
