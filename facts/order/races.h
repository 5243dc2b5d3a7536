/* races.h - all races of a trace: conflicting accesses that nothing orders.
 *
 * SPDX-License-Identifier: MIT
 *
 * Order is by clocks that leave out what orders threads by chance (chance.h). Memory that no module
 * has may be somebody else's from one moment to the next, by way of the allocator's locks: there
 * they count, and so do a library's own locks between accesses of libraries. Each pair of source
 * lines is told once, where it was met first. What has no lines counts by instruction. Plain
 * arrays: nothing points anywhere.
 */
#ifndef FACTS_ORDER_RACES_H
#define FACTS_ORDER_RACES_H

#include "facts/order/pattern.h"
#include "facts/order/race.h"

/* What the first and the later access did. */
enum races_kind { RACES_WRITE_WRITE = 1, RACES_WRITE_READ = 2, RACES_READ_WRITE = 4 };

struct races_side {
    struct position at;
    uint64_t insn;
    gaddr pc;
    gaddr line_pc;   /* in the user's own code: pc, or the call that led there; 0: none */
    gaddr cfa;       /* of pc's frame; 0: not known */
    uint32_t thread; /* as in trace_step.thread */
    bool write;
    bool by_kernel; /* a system call did it, in its own time */
    gaddr addr;     /* the bytes that it has in common with the others, ... */
    uint32_t bytes; /* ... at most 8 */
    bool known;     /* of a pattern: what it read or left of them, ... */
    uint64_t value; /* ... the lowest address in the lowest byte */
};

/* Accesses that make a pattern, among them the two of a race: see struct pattern_case. */
struct races_around {
    enum pattern pattern;
    struct races_side side[PATTERN_ACCESSES];
    unsigned sides;
    bool one_frame, updates, unset;
};

struct races_pair {
    struct races_side first, then; /* of the first instance; both have the same bytes */
    enum race race;
    enum races_kind kind;
    unsigned kinds;     /* enum races_kind, of all instances */
    uint64_t instances; /* runs of accesses by one thread, after another one's */
    bool unset;         /* nobody is known to have written there before */
    bool unlocked;      /* locks happened to order them, but none is held on both sides */
    struct races_around around;
};

struct races {
    struct races_pair *pair; /* in the order in which they were met */
    size_t pairs;
    bool stopped; /* there may be more (trace_watch()) */
};

/* Made when first asked for, kept with the study. `locksets`: with those that only locks order,
 * which do not protect them. NULL with *err set. */
const struct races *races_find(struct study *s, bool locksets, struct err *err);

const char *races_kind_name(enum races_kind kind); /* "write/read" */

#endif
