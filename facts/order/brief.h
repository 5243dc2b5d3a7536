/* brief.h - the memory accesses of a block, in short, for passes that look at all of them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Left out are the stack's own (push, pop, call, ret) and those that notes tell (FLOW_ACCESS). The
 * list of a block is made when it is first executed.
 */
#ifndef FACTS_ORDER_BRIEF_H
#define FACTS_ORDER_BRIEF_H

#include "trace/code.h"

struct brief {
    int64_t add;
    uint16_t slot;
    uint16_t access; /* of the block */
    uint8_t insn;    /* BRIEF_END: there are no more */
    uint8_t more;    /* bytes less one, or BRIEF_NOT_SIMPLE: access_extent() tells */
    bool write;
};

enum { BRIEF_END = 0xff, BRIEF_NOT_SIMPLE = 0xff };
_Static_assert((int)PLAN_INSNS < (int)BRIEF_END, "an instruction's number");

struct briefs {
    struct brief **list; /* by block; NULL: not looked at yet */
    uint32_t blocks;
};

int briefs_init(struct briefs *b, struct code *code, struct err *err);
void briefs_deinit(struct briefs *b);

const struct brief *briefs_make(struct briefs *b, const struct code_block *block);

/* NULL: no memory. */
static inline const struct brief *briefs_of(struct briefs *b, const struct code_block *block)
{
    const struct brief *list = b->list[block->number];
    return list ? list : briefs_make(b, block);
}

/* The access must be a simple one. */
static inline gaddr brief_address(const struct brief *x, const uint64_t *values)
{
    return (gaddr)x->add + (x->slot == PLAN_NONE ? 0 : values[x->slot]);
}

#endif
