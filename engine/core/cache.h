/* cache.h - the code cache: arenas, blocks, exits and the links between them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A block is the translation of straight-line target code of at most one page. Its cache code has
 * three ways in, one falling into the next:
 *   host               after an indirect lookup: gets rax, rcx and live flags back
 *   host + tick_off    after a transfer that ticks
 *   host + plain_off   after any other, after one whose tick is counted, and from the runtime
 * and leaves through exit sites. A direct exit is linked by patching its jump to the target's
 * entry.
 *
 * A superblock (superblock.h) is a block, too: the translation of a path through several. It
 * belongs to the block at its head, and transfers that tick lead to it instead. Other transfers
 * lead to plain blocks, so that a thread that has been sent to one comes to the runtime at the next
 * tick if asked.
 *
 * Arenas are chosen near the target code they serve, so that rip-relative operands still reach.
 * Each is a ring of units; when the ring is full the oldest unit's blocks go. All calls need the
 * baton.
 */
#ifndef ENGINE_CORE_CACHE_H
#define ENGINE_CORE_CACHE_H

#include "engine/rt/types.h"

enum exit_kind {
    EXIT_RESUME,      /* go on at the thread's rip */
    EXIT_DIRECT,      /* go on at target */
    EXIT_INDIRECT,    /* the wanted pc is in the thread's rip; the transfer ticks */
    EXIT_EXPIRED,     /* the tick counter ran out at this block's entry */
    EXIT_SYSCALL,     /* system call at pc, goes on at target */
    EXIT_EMULATE,     /* instruction at pc is the engine's to execute */
    EXIT_UNSUPPORTED, /* instruction at pc cannot be run */
    EXIT_ILLEGAL,     /* no instruction at pc */
    EXIT_TOO_LONG,    /* more than 15 bytes: a protection fault */
    EXIT_STALE,       /* the target's code at this block changed */
    EXIT_PROBE,       /* instrumentation before the instruction at pc */
};

struct exit_site {
    uint8_t kind;    /* enum exit_kind */
    bool tick;       /* EXIT_DIRECT: the transfer ticks */
    bool paid;       /* EXIT_DIRECT: it does, and that is counted */
    uint8_t len;     /* of the instruction at pc */
    uint8_t insn;    /* EXIT_INDIRECT: enum insn_kind */
    uint32_t probe;  /* PROBE_* bits of each tool: instrument.h */
    uint32_t popped; /* EXIT_INDIRECT: bytes a return took from the stack */
    gaddr pc;
    gaddr target;
    struct block *block;
    uint8_t *patch; /* EXIT_DIRECT: the rel32 to patch; EXIT_PROBE: where to go on */
    uint8_t *stub;
    struct block *to; /* linked to */
    struct exit_site *in_next, **in_prev;
};

/* From cache address to target state, for faults. The registers named in `spill` are not in the
 * hardware but in struct thread. */
struct fault_point {
    uint16_t host_off, guest_off; /* guest_off: from the segment's start */
    uint16_t spill;
    uint8_t segment; /* of a superblock */
    uint8_t owed;    /* ticks that have happened and are not counted yet */
};

enum {
    SPILL_RAX = 1 << 0,
    SPILL_RCX = 1 << 1,
    SPILL_FLAGS = 1 << 2,
    SPILL_S0 = 1 << 3,    /* a scratch register in slot 0, its number in bits 8-11 */
    SPILL_CHECK = 1 << 4, /* not the target's access but a look at its code */
};

/* A block belongs to the pages of its code, and to those that were looked at to see whether its
 * flags are dead. A change to any of them drops it. */
enum {
    BLOCK_PAGES = 16,
    BLOCK_PEEKS = 2,
    SUPERBLOCK_BLOCKS = 32, /* of the path of a superblock, its unrolled turns included */
    SUPERBLOCK_TICKS = 64,  /* that a superblock may owe at most */
};

struct page_link {
    struct block *block;
    struct codepage *page;
    struct page_link *next, **prev;
};

struct block {
    gaddr pc;
    uint8_t *host; /* what is executed again and again ... */
    uint32_t host_len;
    uint32_t cold_len;
    uint8_t *cold; /* ... and stubs and literals, kept apart: nothing there faults */
    uint16_t len;  /* target bytes; of a superblock 0 */
    uint16_t tick_off, plain_off;
    uint16_t site_count, point_count, page_count, segment_count;
    bool dead;
    bool transient;      /* for one execution: not findable, not linked */
    bool bare;           /* transfers that tick cannot lead to it: it has only the last way in */
    bool open;           /* a superblock may go through it */
    uint8_t samples;     /* hot.c: times that a tick expired here */
    bool spins;          /* sched/spin.c: a loop through here waits for others */
    uint8_t spin_vain;   /* ... looks that found none, */
    uint16_t spin_skips; /* ... samples until the next one */
    struct exit_site *site;
    struct fault_point *point;
    struct exit_site *in; /* exits linked to this block */
    struct page_link *pages;
    struct block *superblock; /* that begins here */
    struct block *base;       /* a superblock's: the block at its head */
    gaddr *segment;           /* a superblock's: where each of its blocks begins in the target */
};

/* A page of target code that blocks were made from. */
struct codepage {
    gaddr addr;
    struct page_link *links;
    struct codepage *next;
    bool protected_; /* the target may write here, the kernel was told otherwise */
    bool checked;    /* blocks compare their bytes at entry instead */
    uint16_t writes; /* times the target wrote into protected code */
    int prot;        /* the target's own protection */
};

void cache_init(uint64_t arena_bytes);

/* The entry of the table of indirect transfers that pc may have. */
struct lookup_entry *cache_lookup(gaddr pc);

struct block *cache_find(gaddr pc);

/* A building place for a block of code at pc. Evicts old blocks where there is no room. */
struct build {
    struct arena *arena;
    uint8_t *code, *code_end;
    uint8_t *cold, *cold_end;
    uint8_t *meta, *meta_end;
};
void cache_begin(struct build *b, gaddr pc, gaddr region_start);
void *cache_meta(struct build *b, size_t bytes);
void cache_commit(struct build *b, struct block *blk); /* its code and its lengths are there */
void cache_depend(struct block *blk, gaddr page);      /* after the commit; a page once */
void cache_attach(struct block *base, struct block *superblock);

/* Where to go on at a block's pc: in its superblock, if there is one and it may be used. */
static inline const uint8_t *cache_entry(const struct block *b, bool superblock)
{
    b = superblock && b->superblock ? b->superblock : b;
    return b->host + b->plain_off;
}

void cache_kill(struct block *blk);
void cache_link(struct exit_site *site, struct block *to);
void cache_unlink_plain(struct block *blk); /* exits that do not tick come to the runtime */
void cache_kill_range(gaddr start, gaddr end);
void cache_kill_all(void);

/* The block that a cache address lies in, or NULL. */
struct block *cache_block_at(uint64_t host);
bool cache_contains(uint64_t host);
uint64_t cache_from_low(uint32_t low); /* the cache address with these low bits, or `low` itself */
const struct fault_point *cache_fault_point(const struct block *blk, uint64_t host);
gaddr cache_point_pc(const struct block *blk, const struct fault_point *p);

/* cache_page: the record of the page at addr (aligned), made on first use. */
struct codepage *cache_page(gaddr addr);
struct codepage *cache_page_find(gaddr addr);
/* Calls fn for every known page in [start, end). */
void cache_pages(gaddr start, gaddr end, void (*fn)(struct codepage *, void *), void *arg);

/* Changes whenever metadata of blocks was reused: exit sites noted before may be gone. */
extern uint64_t cache_generation;

struct cache_stats {
    uint64_t blocks, insns, code_bytes, cache_bytes, cold_bytes, evicted, killed, translate_tsc;
    uint64_t superblocks, superblock_insns, superblock_bytes, superblock_tsc;
};
extern struct cache_stats cache_stats;

#endif
