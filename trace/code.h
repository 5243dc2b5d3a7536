/* code.h - the blocks that a recording executed, and what their instructions define and use.
 *
 * SPDX-License-Identifier: MIT
 *
 * A block is straight-line code as the engine translated it. Blocks with the same address and bytes
 * are one. Numbers are given out in the order of appearance. Def/use sets are made when they are
 * first asked for. Used by one thread.
 */
#ifndef TRACE_CODE_H
#define TRACE_CODE_H

#include <stddef.h>

#include "base/err.h"
#include "engine/x86/defuse.h"
#include "engine/x86/plan.h"

struct code;

struct code_insn {
    struct insn in;
    uint16_t access_at; /* of the block's accesses; its last is before the next one's first */
    uint8_t accesses;
    /* The register that it has the form of saving on the stack, or of restoring from there, by its
     * one access; -1: it has not. */
    int8_t saves, restores;
    uint16_t top; /* slot with x87's status word; PLAN_NONE: not needed */
};

struct code_block {
    gaddr pc, end; /* end: behind the last instruction */
    uint32_t number;
    uint16_t insns, slots, accesses;
    struct code_insn *insn;
    const struct plan_slot *slot;
    const struct plan_access *access;
    /* What passes over a trace ask of every step. */
    uint8_t tail;     /* enum insn_kind of the last instruction */
    bool moves_stack; /* has a PLAN_STACK slot */
    bool pairs;       /* an instruction saves or restores a register */
    bool gap;         /* it stands for what a recording leaves out */
    bool entry;       /* its first one is an entry of the trace it was read with */
    gaddr ticks_to;   /* going on there from its end is a tick; CODE_NOWHERE, CODE_ANYWHERE */
};

/* No code is there. */
#define CODE_ANYWHERE UINT64_MAX
#define CODE_NOWHERE  (UINT64_MAX - 1)

/* The instruction that stands for what a recording leaves out. */
enum { CODE_GAP_BYTES = 5 };
extern const uint8_t code_gap[CODE_GAP_BYTES];

struct code *code_new(void);
void code_free(struct code *code); /* NULL is allowed */

/* The block of `n` instructions with these lengths and bytes; NULL with *err set: no such block. */
const struct code_block *code_add(struct code *code, gaddr pc, uint32_t n, const uint8_t *lens,
                                  const uint8_t *bytes, size_t room, struct err *err);
void code_mark_entry(struct code *code, uint32_t number);

struct code_table { /* a struct code begins with it */
    struct code_block **block;
    uint32_t count;
};

static inline uint32_t code_count(const struct code *code)
{
    return ((const struct code_table *)(const void *)code)->count;
}

static inline const struct code_block *code_block(const struct code *code, uint32_t number)
{
    const struct code_table *t = (const void *)code;
    return number < t->count ? t->block[number] : NULL;
}

/* The last instruction. */
static inline const struct insn *code_last(const struct code_block *b)
{
    return &b->insn[b->insns - 1].in;
}

/* The address of access number a of a block whose slots are `value`; of a repeated instruction its
 * first element. Not for accesses that plan_odd() says are not told by slots. */
static inline gaddr code_address(const struct plan_access *a, const uint64_t *value)
{
    gaddr addr = (gaddr)a->add + (a->slot == PLAN_NONE ? 0 : value[a->slot]);
    if (a->mem.shape == ACCESS_TABLE)
        return addr + (uint8_t)value[a->count];
    if (a->mem.shape == ACCESS_BITS) {
        uint64_t v = value[a->count];
        int64_t bit = a->mem.bytes == 8 ? (int64_t)v : a->mem.bytes == 4 ? (int32_t)v : (int16_t)v;
        return addr + (uint64_t)(bit >> (a->mem.bytes == 8   ? 6
                                         : a->mem.bytes == 4 ? 5
                                                             : 4)) *
                          a->mem.bytes;
    }
    return addr;
}

/* How often a repeated string instruction did its work; negative: downwards. */
static inline int64_t code_repeats(const struct code_block *b, const struct plan_access *a,
                                   const uint64_t *value)
{
    const struct plan_access *p = &b->access[a->pointer];
    return (int64_t)(value[p->count] - code_address(p, value)) / p->mem.bytes;
}

/* Is it one? */
static inline bool code_is_repeated(const struct plan_access *a)
{
    return a->pointer != PLAN_NONE;
}

/* The sets of instruction i of a block. `flags` of enum defuse_flag; values: the block's slots. The
 * result lives until the next call for what values decide, else as long as the code. */
const struct defuse *code_defuse(struct code *code, const struct code_block *b, unsigned i,
                                 unsigned flags, const uint64_t *values);

/* Do its sets depend on values? */
bool code_varies(const struct code_block *b, unsigned i);

#endif
