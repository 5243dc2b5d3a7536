/* job.h - a translation under way; shared by the files that make one.
 *
 * SPDX-License-Identifier: MIT
 *
 * A job is one block or one superblock. lookahead.c reads the target's code, copy.c emits
 * instructions, exits.c the ways in and out; translate.c makes blocks of them, superblock.c
 * superblocks. There is one job at a time, the baton's holder's.
 */
#ifndef ENGINE_CORE_JOB_H
#define ENGINE_CORE_JOB_H

#include "engine/core/cache.h"
#include "engine/core/translate.h"
#include "engine/x86/emit.h"
#include "engine/x86/insn.h"

enum {
    MAX_INSNS = 64,         /* of a block */
    SUPERBLOCK_INSNS = 160, /* instructions of a superblock, its unrolled turns included */
    MAX_SITES = 8 + 3 * MAX_INSNS,
    MAX_POINTS = 4 + 2 * SUPERBLOCK_INSNS,
    MAX_LITERALS = 2 * SUPERBLOCK_BLOCKS, /* an indirect call has one on the path, one beside */
    LOOKAHEAD = 6,
};

struct job {
    struct emit e;    /* what the target executes */
    struct emit cold; /* what is rarely executed */
    struct block *blk;
    const struct code_source *src;
    const struct translate_options *opt;
    struct insn insn[MAX_INSNS]; /* the block being emitted */
    int count;
    uint32_t live_in;
    gaddr page[BLOCK_PAGES]; /* that the translation depends on */
    int pages, pages_most;
    struct exit_site site[MAX_SITES];
    int sites;
    struct fault_point point[MAX_POINTS];
    int points;
    struct {
        uint8_t *at; /* rel32 of a push that wants the return address */
        gaddr value;
    } literal[MAX_LITERALS];
    int literals;
    /* Superblocks. */
    gaddr segment[SUPERBLOCK_BLOCKS]; /* where each of its blocks begins in the target */
    int segments;
    uint8_t owed;  /* ticks that have happened and are not counted yet */
    bool rcx_away; /* rcx is in its spill slot, the register is free */
};

/* lookahead.c */
/* Decodes the block at pc into j->insn. -1 when not even one instruction is there, with *fault. */
int lookahead_block(struct job *j, gaddr pc, gaddr *fault);
/* Notes that the translation is made of the code at pc. False: there are too many pages. */
bool lookahead_own(struct job *j, gaddr pc);
/* Flags that may be read at pc before they are written, looking at a few instructions. */
uint32_t lookahead_live(struct job *j, gaddr pc);
uint32_t lookahead_live_in(struct job *j); /* the same, of the block in j->insn */

/* copy.c */
/* A copy of the instruction, `spill` being what is spilled already. */
void copy_insn(struct job *j, const struct insn *in, uint16_t spill);
/* lea reg, [mem], without its segment; reg is one of the low eight */
void copy_lea(struct emit *e, int reg, const ZydisDecodedOperandMem *mem, bool addr32);
/* mov rcx, <operand of an indirect jmp or call> */
void copy_load_target(struct job *j, const struct insn *in);

/* exits.c */
struct exit_site *exits_add(struct job *j, enum exit_kind kind, gaddr pc, gaddr target);
void exits_point(struct job *j, const struct insn *in, uint16_t spill);
void exits_leave(struct job *j, struct emit *e, const struct exit_site *s, uint32_t door);
/* A direct transfer: the rel32 at `patch` leads to a stub, emitted with the others by exits_stubs.
 */
struct exit_site *exits_direct(struct job *j, uint8_t *patch, gaddr pc, gaddr target, bool tick);
void exits_stubs(struct job *j);
/* The three ways in; the block's offsets are set. The way out for an expired tick comes behind. */
void exits_entries(struct job *j);
/* `n` ticks are counted. With `live` flags, they travel through ax. If checked, returns the rel32
 * of a jump that is taken when the budget is used up, to be given to exits_expired(). */
uint8_t *exits_count(struct job *j, uint8_t n, uint32_t live, bool checked);
void exits_expired(struct job *j, uint8_t *patch, gaddr pc, uint32_t live);
void exits_expired_entry(struct job *j);
void exits_spill_flags(struct job *j);
/* push of the original return address, in one store */
void exits_push_return(struct job *j, const struct insn *in, uint16_t spill);
void exits_literals(struct job *j);
/* rcx holds the target, rcx is spilled: finish an indirect transfer. */
void exits_lookup(struct job *j, const struct insn *in);

/* translate.c: a place in the cache for j, and its metadata when the code is there. */
void translate_begin(struct job *j, struct build *b, gaddr pc);
struct block *translate_finish(struct job *j, struct build *b);

static inline bool job_is_backward(const struct insn *in)
{
    return in->target <= in->pc;
}

#endif
