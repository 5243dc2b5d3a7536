/* reads.h - instructions of own code that read memory, and how a replay takes what they read.
 *
 * SPDX-License-Identifier: MIT
 *
 * Left out are pops, which restore registers, returns, string instructions, and what is wider than
 * a word.
 */
#ifndef FACTS_DIFF_READS_H
#define FACTS_DIFF_READS_H

#include "source/bytecode.h"
#include "trace/code.h"

struct read {
    gaddr pc; /* in the first recording */
    const struct code_insn *insn;
    uint8_t op; /* the operand */
    uint8_t bytes;
    bool canary; /* of the stack's guard, which each run draws by lot */
};

/* {0} is empty. */
struct reads {
    struct read *read;
    size_t count, room;
};

/* Those of a block, whose addresses the first recording has `by` higher. -1: no memory. */
int reads_add(struct reads *r, const struct code_block *b, gaddr by);
/* By address, each once: to be called behind the last reads_add(). */
void reads_sort(struct reads *r);
void reads_deinit(struct reads *r);

/* How many there are from pc `start` to `last`, and the first one. */
size_t reads_between(const struct reads *r, gaddr start, gaddr last, size_t *first);

/* Takes the bytes it reads. */
void reads_write(const struct read *r, struct bytecode *out);

#endif
