/* cfg_private.h - a function's graph, between the files that make it. SPDX-License-Identifier: MIT
 */
#ifndef TRACE_GRAPH_CFG_PRIVATE_H
#define TRACE_GRAPH_CFG_PRIVATE_H

#include "trace/graph/cfg.h"

/* 1. Blocks ascend with their first pc. Instructions of a block ascend and follow each other.
 * 2. An instruction is in one block. Bytes may be in several, if the function `overlaps`. */
struct cfg_function {
    gaddr entry;
    uint32_t blocks, insns;
    bool frame_pointer, overlaps;
    gaddr longest; /* the largest distance between a block's first and last instruction */
    struct cfg_block *block;
    int32_t *succ;         /* of all blocks */
    uint8_t *len;          /* of all instructions */
    struct cfg_memo *memo; /* what cfg_block_of() said last; NULL: nothing is kept */
    uint32_t memos;        /* a power of two */
};

/* Passes ask for the same few instructions again and again. */
struct cfg_memo {
    gaddr pc; /* 0: free */
    int32_t block;
};

void cfg_function_free(struct cfg_function *f); /* NULL is allowed */

/* Memory that is used again for each function. All zero is empty. */
struct cfg_build {
    struct found *insn; /* in the order of discovery */
    uint32_t insns;
    size_t insns_room;
    uint32_t *slot; /* hash table of pcs: number in `insn` plus one, 0: free */
    uint32_t slots;
    size_t slots_room;
    gaddr *todo; /* ends of edges */
    size_t todos, todos_room;
    int32_t *succ;
    size_t succs, succs_room;
    bool frame_pointer;
    gaddr window; /* code that was read: */
    size_t window_bytes;
    uint8_t bytes[256];
};

void cfg_build_deinit(struct cfg_build *b);

/* The graph without post-dominators. NULL: out of memory. */
struct cfg_function *cfg_build(struct cfg_build *b, const struct cfg_program *program, gaddr entry);

/* Adds the edges of rule 3 and sets all that is about post-dominators. -1: out of memory. */
int postdom_compute(struct cfg_function *f);

#endif
