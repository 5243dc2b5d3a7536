/* objects.h - variables that pointers are made from: in frames, and of modules.
 *
 * SPDX-License-Identifier: MIT
 *
 * A site is an instruction that makes the address of a variable, by the debug information or the
 * symbols: from the stack pointer, the frame pointer or a constant. An object is such a variable
 * where it was, and has a tag as a block has (machine.h).
 *
 * Compilers also make addresses that are not of what they are used for: the end of an array may be
 * the begin of the next one, and code that was optimized counts from wherever it likes. So a site
 * counts only if nothing else can be meant, or if what it made has touched its variable inside,
 * too.
 */
#ifndef FACTS_HEAP_OBJECTS_H
#define FACTS_HEAP_OBJECTS_H

#include "base/table.h"
#include "facts/heap/machine.h"
#include "study/study.h"

struct objects_site {
    gaddr pc;
    gaddr start; /* of the variable; of a local one: from its frame's slot on */
    uint64_t bytes;
    bool local;
    bool tuned; /* by a compiler that optimizes */
    bool sure;  /* nothing else can be meant */
    bool ahead; /* ... by what is behind it: who means the end of the one before is too far, too */
    bool whole; /* which variable it is is not known: all of the frame up to its return address */
};

struct object {
    gaddr slot; /* of the frame; 0: in none */
    uint16_t site;
};

/* A site by its pc, an object's tag by its site and frame. */
struct objects_known {
    uint64_t key, slot; /* key: pc, or the site, plus one */
    uint64_t number;
};

struct objects {
    struct study *study;
    struct machine *machine;
    struct objects_site *site; /* by number; the first is none */
    struct object *object;
    size_t sites, site_room, machine_room, count, room;
    size_t first; /* tag of the first object */
    size_t block_room;
    TABLE(struct objects_known) by_pc;
    TABLE(struct objects_known) by_frame;
    bool failed; /* no memory */
};

/* The machine's blocks have tags below `first`. */
int objects_init(struct objects *o, struct study *s, struct machine *m, size_t first);
void objects_deinit(struct objects *o);

/* For ops.h and machine.h; `arg` is the objects. */
uint16_t objects_site(void *arg, gaddr pc, uint8_t base, int64_t add, bool indexed);
uint32_t objects_tag(void *arg, const struct machine_at *at, uint16_t site);

/* The object of a tag; NULL: it is a block's. */
const struct object *objects_of(const struct objects *o, uint32_t tag);
/* Does the site at that pc count, of what was touched from `low` on? */
bool objects_counts(struct objects *o, gaddr pc, gaddr low);

#endif
