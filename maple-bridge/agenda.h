/* agenda.h - what a run of a search is to do, and what it has done: memory that both sides share.
 *
 * SPDX-License-Identifier: MIT
 *
 * The driver fills the first half before a run and reads the second one after it. The program's
 * runtime (maple-bridge/target/) finds it behind the descriptor of the engine option `maple=FD`.
 * The program could write there, so the driver checks every count and index that it reads.
 *
 * A site is an instruction that a profile saw touch a word which several threads share. It is known
 * by a key made from its module's path and its offset in that file, so it is the same in
 * every run. Number 0 is none: an event there is a system call. Sites that touched the same word
 * are a group: a variable, as far as instructions tell.
 */
#ifndef MAPLE_BRIDGE_AGENDA_H
#define MAPLE_BRIDGE_AGENDA_H

#include <stdint.h>

#include "base/hash.h"

#define AGENDA_MAGIC 0x6e616c70656c706dull

enum {
    AGENDA_SITES = 4096,
    AGENDA_GROUPS = 64,   /* all further groups share the last one */
    AGENDA_THREADS = 256, /* all further threads share the last place */
    AGENDA_SWITCHES = 1 << 16,
    AGENDA_PAIRS = 4096,
    AGENDA_STEPS = 4,
    AGENDA_ORDERS = 8,
};

/* How a run is scheduled: tactics.def has a row for each. */
enum agenda_tactic {
#define TACTIC(name, help) AGENDA_##name,
#include "maple-bridge/tactics.def"
#undef TACTIC
    AGENDA_TACTICS
};

enum agenda_verdict {
    AGENDA_NOTHING,
    AGENDA_CIRCLE, /* threads wait for locks of one another */
    AGENDA_STUCK,  /* all wait, and nothing can end that */
};

enum { AGENDA_SYNC = 1 }; /* of a site: it is a library's, which synchronises */

struct agenda_site {
    uint64_t key;
    uint16_t group;
    uint16_t flags;
};

/* A thread is taken off before an event, by its number: its n-th one, from 1 on. */
struct agenda_switch {
    uint32_t thread, next;
    uint64_t event;
};

/* An event that was executed, the thread's n-th one. */
struct agenda_trail {
    uint32_t thread;
    uint16_t site;
    uint8_t reads, writes;
    uint32_t bytes;
    uint64_t event, addr;
    uint64_t pc, count; /* with the thread a position */
};

/* One event of an order that is to be forced (idioms.def): executed at `site` by thread `actor` of
 * the order (0 or 1) at location `place` of it (0 or 1). For hold.c a place where threads wait: at
 * the site, or `actor` events behind it; `place` 1: only the first thread that comes. */
struct agenda_step {
    uint16_t site;
    uint8_t actor, place;
};

/* The read is to see what the write wrote; or is not to. Write 0: what was there before. */
struct agenda_order {
    uint16_t write, read;
    uint16_t negated;
};

struct agenda {
    uint64_t magic;
    int32_t pid; /* of the process that follows it; 0: nobody yet */

    /* What to do. */
    uint32_t tactic;       /* enum agenda_tactic */
    uint32_t depth;        /* pct: how many changes */
    uint32_t group;        /* surw: of the events that count */
    uint64_t seed, length; /* ... and about how many events there will be */
    uint32_t sites, groups;
    uint32_t wanted; /* sites that are events */
    uint32_t shift;  /* addresses in the same 1 << shift bytes are the same word */
    uint32_t steps, orders, switches;
    struct agenda_step step[AGENDA_STEPS];
    struct agenda_order order[AGENDA_ORDERS];
    struct agenda_site site[AGENDA_SITES];                /* 0 is none */
    uint16_t by_key[AGENDA_SITES];                        /* numbers of those that are events */
    uint32_t expected[AGENDA_THREADS][AGENDA_GROUPS + 1]; /* events; the last column: all of them */
    struct agenda_switch script[AGENDA_SWITCHES];

    /* What was done. */
    struct agenda_done {
        uint64_t events, switches, hash;
        uint32_t verdict; /* enum agenda_verdict */
        uint32_t threads;
        uint32_t reached; /* steps of the order that were executed as wanted */
        uint32_t pairs;
        struct {
            uint16_t write, read;
        } pair[AGENDA_PAIRS]; /* reads and what they read from, each once */
        uint32_t seen[AGENDA_THREADS][AGENDA_GROUPS + 1];
        struct agenda_switch log[AGENDA_SWITCHES]; /* the first ones */
        uint32_t trails;
        struct agenda_trail trail[AGENDA_SWITCHES]; /* events, the first ones */
    } done;
};

/* The key of an instruction, `offset` bytes into the file with this path. */
static inline uint64_t agenda_module(const char *path)
{
    uint64_t h = 0;
    for (; *path; path++)
        h = hash_fold(h ^ h >> 29, (unsigned char)*path);
    return h;
}

static inline uint64_t agenda_key(uint64_t module, uint64_t offset)
{
    uint64_t h = hash_fold(module ^ module >> 31, offset);
    return (h ^ h >> 32) >> 1 | 1; /* 63 bits */
}

#endif
