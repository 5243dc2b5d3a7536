/* transfer.h - what a block does to what is wanted, worked out once.
 *
 * SPDX-License-Identifier: MIT
 *
 * Walking backwards over an executed block, its instructions change the set of wanted locations and
 * wanted memory, and some of them join the slice. What they do follows from few bits: which of the
 * locations that they define are wanted, and, for each write to memory, whether anything there is.
 * So it is worked out for such an answer when it is first met, and remembered; billions of
 * executions of the same blocks then cost a look-up and their accesses to memory (transfer.c).
 *
 * A block is cut into *pieces*: runs of simple instructions, which are remembered, and single ones
 * that values, saved registers or the kernel have a say in; those are the caller's work. Used by
 * one walk.
 */
#ifndef SLICER_WALK_TRANSFER_H
#define SLICER_WALK_TRANSFER_H

#include "slicer/walk/wanted.h"
#include "trace/code.h"
#include "trace/graph/cfg.h"

enum { TRANSFER_WORDS = 24 }; /* of a loc_set, that a piece may have to do with */

struct transfer;
struct transfer_root;

/* Locations: a word of a loc_set, and bits of it. */
struct transfer_word {
    uint32_t at;
    uint64_t bits;
};

struct transfer_piece {
    uint8_t first, end; /* instructions [first, end) */
    bool simple;
    /* One that is not simple: it must be looked at always, or while a saved register is waited for.
     */
    bool look, saves;
    bool writes; /* memory, as its accesses say */
    uint8_t words;
    struct transfer_word *word; /* what it may define; of a run also what it may use (bits 0) */
    struct transfer_root **root, *last;
    size_t roots, room;
};

/* A block in a function. */
struct transfer_block {
    struct transfer_block *next; /* the same block in another function */
    gaddr entry;                 /* the function's */
    const struct cfg_function *function;
    const struct code_block *b;
    unsigned flags; /* enum defuse_flag */
    bool look, saves;
    int32_t last;  /* graph block whose last instruction is the block's last; CFG_NONE: none */
    bool branches; /* ... and that one is a branch */
    gaddr seen_pc; /* where it went on last time, ... */
    int32_t seen;  /* ... and the graph block there */
    unsigned pieces;
    struct transfer_piece *piece;
    unsigned words;
    struct transfer_word *word; /* what all of it may define */
    unsigned graphs;
    struct transfer_graph {
        int32_t block;  /* of the function's graph, or CFG_NONE */
        uint64_t insns; /* those of its instructions that are in it, a bit each */
    } * graph;
};

struct transfer_options {
    struct code *code;
    bool addresses;  /* what says where memory is, is used */
    bool keep_saves; /* saving and restoring registers is nothing special */
    bool nothing_simple;
    size_t most_bytes; /* that are remembered, about; 0: enough for most */
    /* Is a read of this memory no use? */
    bool (*constant)(void *ctx, gaddr addr, uint64_t bytes);
    void *ctx;
};

struct transfer *transfer_new(const struct transfer_options *options);
void transfer_free(struct transfer *t); /* NULL is allowed */

/* The block, as the function has it. NULL: it was not asked for before. */
static inline struct transfer_block *transfer_find(struct transfer *t, uint32_t number,
                                                   gaddr entry);
/* Makes it. NULL: no memory. */
struct transfer_block *transfer_add(struct transfer *t, const struct code_block *b, gaddr entry,
                                    const struct cfg_function *function, unsigned flags);

/* Is anything wanted that an instruction of the block may define? */
bool transfer_matters(const struct transfer_block *x, const struct loc_set *reg,
                      struct wanted *memory, const uint64_t *values);

/* Executes a run of simple instructions backwards; `take`: its last one is in the slice in any
 * case. Adds to *taken, a bit for each instruction of the block, those that are. False: no memory.
 */
bool transfer_run(struct transfer *t, const struct transfer_block *x, struct transfer_piece *p,
                  bool take, const uint64_t *values, struct loc_set *reg, struct wanted *memory,
                  uint64_t *taken);

struct transfer_table {            /* a struct transfer begins with it */
    struct transfer_block **first; /* by number of the block */
};

static inline struct transfer_block *transfer_find(struct transfer *t, uint32_t number, gaddr entry)
{
    struct transfer_block *x = ((const struct transfer_table *)(const void *)t)->first[number];
    while (x && x->entry != entry)
        x = x->next;
    return x;
}

#endif
