/* machine_int.h - what the files of the machine share. SPDX-License-Identifier: MIT */
#ifndef FACTS_HEAP_MACHINE_INT_H
#define FACTS_HEAP_MACHINE_INT_H

#include "facts/heap/machine.h"
#include "trace/frames.h"

#define MACHINE_ALL_FLAGS ((uint16_t)(FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF))

/* What an operation works with. */
struct run {
    struct machine *m;
    struct machine_thread *t;
    const struct ops *ops;
    const uint64_t *values;
    const struct op *op;
};

static inline uint64_t machine_mask(unsigned bytes)
{
    return bytes >= 8 ? ~0ull : (1ull << 8 * bytes) - 1;
}

static inline gaddr machine_address(const struct run *r, const struct op *op)
{
    const struct plan_access *a = &r->m->at.b->access[op->access];
    if (!op->simple)
        return code_address(a, r->values);
    return (gaddr)a->add + (a->slot == PLAN_NONE ? 0 : r->values[a->slot]);
}

/* Writes to a register as the processor does: 4 bytes clear the upper ones, fewer keep them. */
static inline void machine_put(struct machine_thread *t, const struct op *op, uint64_t bits)
{
    uint64_t mask = machine_mask(op->bytes), old = t->undefined[op->dst];
    t->undefined[op->dst] = op->bytes >= 4 ? bits & mask : (old & ~mask) | (bits & mask);
    t->zero[op->dst] = 0;
}

/* The tag of a sum. */
static inline uint32_t machine_tag_sum(uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a | b;
    return a == MACHINE_DISTANCE && b == MACHINE_DISTANCE ? MACHINE_DISTANCE : 0;
}

static inline void machine_define(struct shadow *s, gaddr addr, uint64_t bytes)
{
    if (bytes <= 8 && bytes)
        shadow_put(s, addr, (unsigned)bytes, 0);
    else
        shadow_fill(s, addr, bytes, false);
}

/* The tag of the variable whose address is made at a site. */
static inline uint32_t machine_object(const struct run *r, uint16_t site)
{
    const struct machine_site *s = &r->m->site[site];
    if (s->tag && (!s->local || s->slot == r->m->at.frame->slot))
        return s->tag;
    return r->m->object(r->m->objects, &r->m->at, site);
}

/* The tag of the address of a memory operand. */
uint32_t machine_address_tag(const struct run *r, const struct op *op);
/* String functions read more than they are told. But one that reads through a pointer to a block
 * that was taken back was given that pointer: it is told. */
void machine_check_string(struct run *r, const struct op *op, gaddr addr, uint64_t bytes);
/* Looks at where an access goes, and at what says where. */
void machine_check(struct run *r, const struct op *op, gaddr addr, uint64_t bytes, bool write);
/* The origin of an undefined value that is read: that of the value that was stored there, or this
 * very place. */
struct machine_origin machine_origin_here(const struct run *r, gaddr addr, uint64_t bits);
/* An undefined value is stored. */
void machine_keep_origin(struct run *r, gaddr addr, unsigned bytes, const struct machine_origin *o);

/* machine_registers.c, machine_vectors.c: operations on general registers and conditions; on
 * vectors. */
void machine_registers(struct run *r);
void machine_vectors(struct run *r);
void machine_clear_vector(struct machine_vector *v);

#endif
