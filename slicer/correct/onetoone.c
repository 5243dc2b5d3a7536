/* onetoone.c - does a right result mean a right operand? SPDX-License-Identifier: MIT */
#include "slicer/correct/onetoone.h"

#include <stdlib.h>

#include "base/table.h"

enum form { NEVER, BOTH, FIRST, ADDRESS, PRODUCT };

static const uint8_t form_of[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define ONE_TO_ONE(mnemonic, form) [ZYDIS_MNEMONIC_##mnemonic] = (form),
#include "slicer/correct/onetoone.def"
#undef ONE_TO_ONE
};

/* Instructions by their address; of code that was rewritten, the one that was executed last. */
struct place {
    uint64_t pc; /* plus one */
    const struct insn *in;
};

struct onetoone {
    TABLE(struct place) place;
};

struct onetoone *onetoone_new(const struct code *code)
{
    struct onetoone *o = calloc(1, sizeof *o);
    bool ok = o && !table_reserve(&o->place);
    for (uint32_t i = 0; ok && i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        for (uint32_t k = 0; ok && k < b->insns; k++) {
            if (table_reserve(&o->place)) {
                ok = false;
                break;
            }
            struct place *p = table_find(&o->place, b->insn[k].in.pc + 1);
            o->place.used += !p->pc;
            *p = (struct place){b->insn[k].in.pc + 1, &b->insn[k].in};
        }
    }
    if (ok)
        return o;
    onetoone_free(o);
    return NULL;
}

void onetoone_free(struct onetoone *o)
{
    if (!o)
        return;
    free(o->place.slot);
    free(o);
}

static const struct insn *insn_at(const struct onetoone *o, gaddr pc)
{
    const struct place *p = table_find(&o->place, pc + 1);
    return p->pc ? p->in : NULL;
}

/* ---- operands ---- */

static int gpr_of(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? insn_gpr_number(op->reg.value) : -1;
}

static bool is_constant(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* Is it what flows: this register, or memory? */
static bool flows_in(const ZydisDecodedOperand *op, const struct slice_dependence *d)
{
    int reg = gpr_of(op);
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return d->memory;
    return reg >= 0 && !d->memory && d->addr / LOC_GPR_BYTES == (unsigned)reg;
}

static bool takes_both(const struct insn_operands *x, const struct slice_dependence *d, bool strict)
{
    const ZydisDecodedOperand *a = &x->op[0], *b = &x->op[1];
    if ((gpr_of(a) < 0 && a->type != ZYDIS_OPERAND_TYPE_MEMORY) ||
        (gpr_of(a) >= 0 && gpr_of(a) == gpr_of(b)))
        return false;
    if (strict && !is_constant(b))
        return false;
    return flows_in(a, d) != flows_in(b, d);
}

static bool takes_address(const struct insn_operands *x, const struct slice_dependence *d,
                          bool strict)
{
    const ZydisDecodedOperandMem *m = &x->op[1].mem;
    int base = insn_gpr_number(m->base), index = insn_gpr_number(m->index);
    unsigned reg = (unsigned)(d->addr / LOC_GPR_BYTES);
    if (d->memory || base == index || (strict && base >= 0 && index >= 0))
        return false;
    return (base >= 0 && reg == (unsigned)base) ||
           (index >= 0 && reg == (unsigned)index && m->scale == 1);
}

/* imul r, r/m, constant. */
static bool takes_product(const struct insn_operands *x, const struct slice_dependence *d)
{
    return x->z.operand_count_visible == 3 && is_constant(&x->op[2]) && x->op[2].imm.value.u & 1 &&
           flows_in(&x->op[1], d);
}

bool onetoone_edge(const struct onetoone *o, const struct slice_dependence *d, bool strict)
{
    struct insn_operands x;
    const struct insn *in = insn_at(o, d->node_pc);
    if (d->kind != SLICE_VALUE || !in || (!d->memory && d->addr >= LOC_MASK))
        return false;
    if (d->copy) {
        const struct copy *c = d->copy;
        return c->from_memory == d->memory && d->addr <= c->from &&
               d->addr + d->bytes >= c->from + c->from_bytes;
    }
    if (in->mnemonic > ZYDIS_MNEMONIC_MAX_VALUE || !form_of[in->mnemonic])
        return false;
    insn_operands(in, &x);
    switch ((enum form)form_of[in->mnemonic]) {
    case BOTH:
        return takes_both(&x, d, strict);
    case FIRST:
        return flows_in(&x.op[0], d) && (x.z.operand_count_visible < 2 || is_constant(&x.op[1]));
    case ADDRESS:
        return takes_address(&x, d, strict);
    case PRODUCT:
        return takes_product(&x, d);
    case NEVER:
        break;
    }
    return false;
}

bool onetoone_covers(const struct onetoone *o, gaddr pc, uint64_t bytes)
{
    struct insn_operands x;
    const struct insn *in = insn_at(o, pc);
    if (!in)
        return false;
    insn_operands(in, &x);
    for (unsigned i = 0; i < x.z.operand_count_visible; i++)
        if (x.op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            return bytes * 8 >= x.op[i].size;
    /* a push, a string's move: what it wrote has the size that it read */
    return x.z.operand_count_visible ? bytes * 8 >= x.op[0].size : bytes >= 8;
}
