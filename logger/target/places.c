/* places.c - places in the code that parts of a run begin and end with. SPDX-License-Identifier:
 * MIT
 *
 * A probe of SystemTap's kind may have a semaphore, a word of the program's data: the program
 * passes the probe by while that is zero. It is raised as soon as it is mapped, as other tools do.
 * In a part that is being recorded this change is a write of the call that mapped it.
 */
#include "logger/target/places.h"

#include "base/search.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/rt/maplist.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/log.h"

struct place {
    gaddr pc;
    uint32_t whole, stub, near; /* bits of triggers */
};

enum { SEMAPHORES = 256 };

static struct {
    struct place *list; /* by pc */
    size_t count, room;
    uint32_t exact;  /* triggers that have a whole place */
    uint32_t chosen; /* triggers whose function is chosen at run time: stubs count */
    gaddr entry;
    size_t semaphores;
    gaddr semaphore[SEMAPHORES]; /* that are not mapped yet */
} p;

bool places_wanted(void)
{
    struct trigger_region *r = &log_ring()->region;
    for (uint32_t i = 0; i < 2 * r->parts; i++)
        if (trigger_of(r, i)->kind == TRIGGER_NAME)
            return true;
    return false;
}

/* ---- the list ---- */

/* The first that is not below pc. */
static size_t find(gaddr pc)
{
    return search_below(p.list, p.count, pc, pc);
}

static void make_room(void)
{
    const size_t room = p.room ? 2 * p.room : 512;
    struct place *list = range_alloc(room * sizeof *list);
    if (p.room) {
        memcpy(list, p.list, p.count * sizeof *list);
        range_free(p.list, p.room * sizeof *list);
    }
    p.list = list;
    p.room = room;
}

static void add(gaddr pc, uint32_t trigger, enum ring_place_kind kind)
{
    const size_t at = find(pc);
    if (at == p.count || p.list[at].pc != pc) {
        if (p.count == p.room)
            make_room();
        memmove(&p.list[at + 1], &p.list[at], (p.count - at) * sizeof *p.list);
        p.list[at] = (struct place){.pc = pc};
        p.count++;
        instrument_changed(pc, pc + 1);
    }
    struct place *place = &p.list[at];
    *(kind == PLACE_STUB   ? &place->stub
      : kind == PLACE_NEAR ? &place->near
                           : &place->whole) |= 1u << trigger;
    p.exact |= place->whole;
}

static void forget(gaddr start, gaddr end)
{
    const size_t from = find(start), to = find(end);
    if (from == to)
        return;
    memmove(&p.list[from], &p.list[to], (p.count - to) * sizeof *p.list);
    p.count -= to - from;
    p.exact = 0;
    for (size_t i = 0; i < p.count; i++)
        p.exact |= p.list[i].whole;
}

uint32_t places_at(gaddr pc)
{
    const size_t at = find(pc);
    if (at == p.count || p.list[at].pc != pc)
        return 0;
    const struct place *place = &p.list[at];
    return place->whole | (place->stub & p.chosen) | (place->near & ~p.exact);
}

/* ---- semaphores ---- */

static void raise_semaphore(gaddr at, bool noted)
{
    uint16_t value;
    if (engine_copy(&value, (const void *)at, sizeof value))
        return;
    value++;
    engine_copy((void *)at, &value, sizeof value);
    if (noted)
        log_data(at, sizeof value, DATA_AFTER);
}

static void raise_in(gaddr start, gaddr end, bool noted)
{
    for (size_t i = 0; i < p.semaphores;) {
        const gaddr at = p.semaphore[i];
        if (at < start || at >= end) {
            i++;
            continue;
        }
        p.semaphore[i] = p.semaphore[--p.semaphores];
        raise_semaphore(at, noted);
    }
}

/* Two probes may have the same one. */
static void want_raised(gaddr at)
{
    for (size_t i = 0; i < p.semaphores; i++)
        if (p.semaphore[i] == at)
            return;
    if (p.semaphores < SEMAPHORES)
        p.semaphore[p.semaphores++] = at;
}

/* ---- asking ---- */

static void take(const struct ring_place *r, uint32_t triggers)
{
    if (r->trigger >= triggers)
        return;
    if (r->kind == PLACE_CHOSEN) {
        if (!(p.chosen >> r->trigger & 1)) /* stubs that did not count are not probed */
            instrument_changed(0, 1ull << 47);
        p.chosen |= 1u << r->trigger;
        return;
    }
    add(r->pc, r->trigger, (enum ring_place_kind)r->kind);
    if (r->semaphore)
        want_raised(r->semaphore);
}

/* The request names the file, by descriptor or by path. */
static void ask(gaddr start, gaddr end, uint64_t offset)
{
    struct ring *g = log_ring();
    uint32_t had = 0;
    const int32_t fd = g->keep.fd;
    char path[sizeof g->keep.path];
    if (fd < 0)
        memcpy(path, g->keep.path, sizeof path); /* the answers take its room */
    for (uint64_t all = 1; had < all; had += RING_PLACES) {
        if (fd < 0)
            memcpy(g->keep.path, path, sizeof path);
        g->keep.fd = fd;
        g->file_at = start;
        g->keep.bytes = end - start;
        g->keep.offset = offset;
        g->keep.skip = had;
        if (!log_ask_outside(KEEP_PLACES))
            return;
        all = g->keep.size;
        for (uint32_t i = 0; i < RING_PLACES && had + i < all; i++)
            take(&g->keep.places[i], 2 * g->region.parts);
    }
}

static void ask_about(const struct maplist_entry *l)
{
    struct ring *g = log_ring();
    g->keep.fd = -1;
    g->keep.dev = l->dev;
    g->keep.ino = l->ino;
    rt_format(g->keep.path, sizeof g->keep.path, "%s", l->path);
    ask(l->start, l->end, l->offset);
}

/* The auxiliary vector is behind the arguments and the environment. */
static gaddr entry_of(const struct thread *t)
{
    enum { NULL_, ENTRY = 9 };
    uint64_t word[2];
    gaddr at = t->cpu.gpr[RSP] + 8;
    for (int lists = 0; lists < 2; at += 8) {
        if (engine_copy(word, (const void *)at, 8))
            return 0;
        lists += word[0] == 0;
    }
    for (; !engine_copy(word, (const void *)at, 16) && word[0] != NULL_; at += 16)
        if (word[0] == ENTRY)
            return word[1];
    return 0;
}

void places_begin(const struct thread *t)
{
    static char text[16 << 10];
    struct trigger_region *r = &log_ring()->region;
    struct maplist list;
    struct maplist_entry e;
    p.count = 0;
    for (uint32_t i = 0; i < 2 * r->parts; i++)
        if (trigger_of(r, i)->kind == TRIGGER_ADDR)
            add(trigger_of(r, i)->number, i, PLACE_WHOLE);
    if (!places_wanted() || maplist_open(&list, 0, text, sizeof text))
        return;
    while (maplist_next(&list, &e))
        if ((e.prot & PROT_EXEC) && e.path[0] == '/' && !range_overlaps(e.start, e.end))
            ask_about(&e);
    maplist_close(&list);
    raise_in(0, 1ull << 47, false); /* nothing is noted yet */
    p.entry = entry_of(t);
}

bool places_is_entry(gaddr pc)
{
    return p.entry && pc == p.entry;
}

void places_loaded(void)
{
    p.entry = 0;
    log_ask_outside(KEEP_LOADED);
}

/* ---- what calls map ---- */

/* Places that a user gave by their address stay. */
static void gone(gaddr start, gaddr end)
{
    struct trigger_region *r = &log_ring()->region;
    forget(start, end);
    for (uint32_t i = 0; i < 2 * r->parts; i++)
        if (trigger_of(r, i)->kind == TRIGGER_ADDR)
            add(trigger_of(r, i)->number, i, PLACE_WHOLE);
}

void places_called(const struct thread *t, long nr, long result)
{
    const uint64_t *g = t->cpu.gpr;
    const enum call_does does = kinds_of(nr).does;
    if (SYS_FAILED(result) || (does != DOES_MAPS && does != DOES_UNMAPS))
        return;
    const gaddr start = does == DOES_MAPS ? (gaddr)result : g[RDI];
    const gaddr end = start + PAGE_UP(g[RSI]);
    gone(start, end);
    if (does != DOES_MAPS || !places_wanted())
        return;
    if ((g[RDX] & PROT_EXEC) && !(g[R10] & MAP_ANONYMOUS)) {
        log_ring()->keep.fd = (int32_t)g[R8];
        ask(start, end, g[R9]);
    }
    if (g[RDX] & PROT_WRITE)
        raise_in(start, end, log_ring()->region.begun > log_ring()->region.ended);
}
