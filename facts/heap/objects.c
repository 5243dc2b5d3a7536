/* objects.c - variables that pointers are made from. SPDX-License-Identifier: MIT */
#include "facts/heap/objects.h"

#include <stdlib.h>

#include "base/array.h"
#include "source/frame.h"
#include "trace/frames.h"

enum { MOST_SITES = UINT16_MAX, MOST_OBJECTS = 1 << 20, LOWEST = 4096 };

/* Call frame information has offsets only: any address will do. */
#define SOME_CFA (1ull << 46)

int objects_init(struct objects *o, struct study *s, struct machine *m, size_t first)
{
    *o = (struct objects){.study = s, .machine = m, .first = first, .block_room = first};
    if (table_reserve(&o->by_pc) || table_reserve_pair(&o->by_frame) ||
        array_push(&o->site, &o->sites, &o->site_room, (struct objects_site){0}) ||
        array_reserve(&m->site, &o->machine_room, o->sites))
        return -1;
    m->site[0] = (struct machine_site){0};
    return 0;
}

void objects_deinit(struct objects *o)
{
    free(o->site);
    free(o->object);
    free(o->by_pc.slot);
    free(o->by_frame.slot);
    if (o->machine)
        free(o->machine->site);
}

/* ---- sites ---- */

/* `indexed`: it is not the end of anything. */
static bool local_site(struct objects *o, gaddr pc, uint8_t base, int64_t add, bool indexed,
                       struct objects_site *out)
{
    enum { DWARF_RBP = 6, DWARF_RSP = 7, SLOT = 8, ALL_LOCALS = 64 << 20 };
    struct source_cfa cfa;
    struct source_object object, ends;
    const struct source_frame frame = {.cfa = SOME_CFA};
    if (!source_cfa(o->study->source, pc, &cfa) || cfa.reg != (base == RSP ? DWARF_RSP : DWARF_RBP))
        return false;
    gaddr addr = SOME_CFA - (uint64_t)cfa.offset + (uint64_t)add;
    /* what is above the return address is the caller's */
    if (!source_object(o->study->source, pc, &frame, addr, &object) ||
        object.start + object.bytes > SOME_CFA - SLOT)
        return false;
    *out = (struct objects_site){.start = object.start - (SOME_CFA - SLOT),
                                 .bytes = object.bytes,
                                 .local = true,
                                 .tuned = object.tuned};
    if (object.shared) { /* all that the frame has */
        out->start = -(uint64_t)ALL_LOCALS;
        out->bytes = ALL_LOCALS;
        out->whole = true;
    }
    out->sure = !object.tuned && (indexed || addr != object.start ||
                                  !source_object(o->study->source, pc, &frame, addr - 1, &ends));
    return true;
}

static bool static_site(struct objects *o, gaddr pc, gaddr addr, struct objects_site *out)
{
    struct source_object object;
    if (addr < LOWEST || !source_object(o->study->source, pc, NULL, addr, &object))
        return false;
    *out = (struct objects_site){.start = object.start,
                                 .bytes = object.bytes,
                                 .tuned = object.tuned,
                                 .ahead = !object.tuned};
    return true;
}

/* Adds what it is, or that it is none. */
static uint16_t add_site(struct objects *o, gaddr pc, const struct objects_site *site)
{
    uint16_t number = 0;
    if (table_reserve(&o->by_pc)) {
        o->failed = true;
        return 0;
    }
    struct objects_known *k = table_find(&o->by_pc, pc + 1);
    if (site && o->sites < MOST_SITES) {
        if (array_reserve(&o->machine->site, &o->machine_room, o->sites + 1) ||
            array_push(&o->site, &o->sites, &o->site_room, *site)) {
            o->failed = true;
            return 0;
        }
        number = (uint16_t)(o->sites - 1);
        o->machine->site[number] = (struct machine_site){.local = site->local};
    }
    *k = (struct objects_known){.key = pc + 1, .number = number};
    o->by_pc.used++;
    return number;
}

uint16_t objects_site(void *arg, gaddr pc, uint8_t base, int64_t add, bool indexed)
{
    struct objects *o = arg;
    struct source_line l;
    struct objects_site site = {0};
    const struct objects_known *k = table_find(&o->by_pc, pc + 1);
    if (k->key)
        return (uint16_t)k->number;
    bool found = study_own(o->study, pc, &l) &&
                 (base == OPS_NO_REG ? static_site(o, pc, (gaddr)add, &site)
                                     : local_site(o, pc, base, add, indexed, &site));
    site.pc = pc;
    return add_site(o, pc, found ? &site : NULL);
}

bool objects_counts(struct objects *o, gaddr pc, gaddr low)
{
    uint64_t n = table_find(&o->by_pc, pc + 1)->number;
    const struct objects_site *s = &o->site[n];
    return n && (s->sure || o->machine->site[n].seen || (s->ahead && low >= s->start + s->bytes));
}

/* ---- objects ---- */

static uint32_t add_object(struct objects *o, uint16_t site, gaddr slot)
{
    struct machine *m = o->machine;
    const struct objects_site *s = &o->site[site];
    gaddr start = s->local ? s->start + slot : s->start;
    size_t tag = o->first + o->count;
    if (array_reserve(&m->block, &o->block_room, tag + 1) ||
        array_push(&o->object, &o->count, &o->room, (struct object){slot, site})) {
        o->failed = true;
        return 0;
    }
    m->block[tag] = (struct machine_block){start, start + s->bytes, false, site};
    return (uint32_t)tag;
}

uint32_t objects_tag(void *arg, const struct machine_at *at, uint16_t site)
{
    struct objects *o = arg;
    bool local = o->site[site].local;
    gaddr slot = local ? at->frame->slot : 0;
    if ((local && (!slot || at->frame->kind == FRAME_ROOT)) || o->count == MOST_OBJECTS)
        return 0;
    if (table_reserve_pair(&o->by_frame)) {
        o->failed = true;
        return 0;
    }
    struct objects_known *k = table_find_pair(&o->by_frame, (uint64_t)site + 1, slot);
    if (!k->key) {
        *k = (struct objects_known){(uint64_t)site + 1, slot, add_object(o, site, slot)};
        o->by_frame.used++;
    }
    o->machine->site[site].slot = slot;
    o->machine->site[site].tag = (uint32_t)k->number;
    return (uint32_t)k->number;
}

const struct object *objects_of(const struct objects *o, uint32_t tag)
{
    return tag < o->first ? NULL : &o->object[tag - o->first];
}
