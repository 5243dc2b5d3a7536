/* machine.c - executes operations on what is known of values.
 *
 * SPDX-License-Identifier: MIT
 *
 * The rules for undefined bits are memcheck's (Seward and Nethercote, "Using Valgrind to detect
 * undefined value errors with bit-precision", 2005), but values are not known here: where a value
 * decides, as in an `and` of two registers or in a cmov, the result counts as defined. So what is
 * told is right, and some is missed.
 */
#include "facts/heap/machine_int.h"

#include <stdlib.h>

#include "base/array.h"
#include "trace/access.h"

/* ---- memory ---- */

uint32_t machine_address_tag(const struct run *r, const struct op *op)
{
    uint32_t base = r->t->tag[op->base], index = r->t->tag[op->index];
    if (!(base | index))
        return op->site ? machine_object(r, op->site) : 0;
    if (index && op->more > 1)
        return 0;
    base = machine_tag_sum(base, index);
    return base == MACHINE_DISTANCE ? 0 : base;
}

static bool is_outside(const struct machine *m, const struct machine_access *a)
{
    const struct machine_block *b = &m->block[a->tag];
    return b->freed || a->addr < b->start || a->bytes > b->end - b->start ||
           a->addr > b->end - a->bytes;
}

bool machine_is_odd(struct machine *m, const struct machine_access *a)
{
    const struct machine_block *b = &m->block[a->tag];
    if (a->addr - b->start < b->end - b->start)
        m->site[b->site].seen = true;
    if (a->tag && is_outside(m, a))
        return true;
    return a->bytes &&
           shadow_is_freed(&m->shadow, a->addr, a->bytes < SHADOW_PAGE ? a->bytes : SHADOW_PAGE);
}

void machine_check(struct run *r, const struct op *op, gaddr addr, uint64_t bytes, bool write)
{
    struct machine_thread *t = r->t;
    struct machine_access a = {addr, bytes, machine_address_tag(r, op), write};
    r->m->at.i = op->insn;
    if (t->undefined[op->base] | t->undefined[op->index]) {
        unsigned reg = t->undefined[op->base] ? op->base : op->index;
        r->m->used(r->m->arg, &r->m->at, MACHINE_ADDRESS, &t->origin[reg]);
        t->undefined[reg] = 0;
    }
    if (machine_is_odd(r->m, &a))
        r->m->touched(r->m->arg, &r->m->at, &a);
}

void machine_check_string(struct run *r, const struct op *op, gaddr addr, uint64_t bytes)
{
    struct machine_access a = {addr, bytes, machine_address_tag(r, op), false};
    const struct machine_block *b = &r->m->block[a.tag];
    gaddr end = addr + bytes < b->end ? addr + bytes : b->end;
    if (!b->freed || addr >= b->end || end <= b->start)
        return;
    a.addr = addr < b->start ? b->start : addr;
    a.bytes = end - a.addr;
    r->m->at.i = op->insn;
    r->m->touched(r->m->arg, &r->m->at, &a);
}

struct machine_origin machine_origin_here(const struct run *r, gaddr addr, uint64_t bits)
{
    unsigned first = (unsigned)__builtin_ctzll(bits) / 8,
             behind = 8 - (unsigned)__builtin_clzll(bits) / 8;
    const struct machine_at *at = &r->m->at;
    uint32_t stored = shadow_origin(&r->m->shadow, addr + first, behind - first);
    if (stored)
        return r->m->origin[stored];
    return (struct machine_origin){addr + first, at->b->insn[r->op->insn].in.pc,
                                   at->insn + r->op->insn, behind - first};
}

void machine_keep_origin(struct run *r, gaddr addr, unsigned bytes, const struct machine_origin *o)
{
    struct machine *m = r->m;
    const struct machine_origin *last = m->origins ? &m->origin[m->origins - 1] : NULL;
    bool same = last && last->addr == o->addr && last->insn == o->insn;
    if (m->origins >= MACHINE_ORIGINS)
        return;
    if (!m->origins &&
        array_push(&m->origin, &m->origins, &m->origin_room, (struct machine_origin){.bytes = 0}))
        m->shadow.failed = true;
    if (!same && array_push(&m->origin, &m->origins, &m->origin_room, *o))
        m->shadow.failed = true;
    if (!m->shadow.failed)
        shadow_set_origin(&m->shadow, addr, bytes, (uint32_t)m->origins - 1);
}

/* A function that looks for a string's end reads aligned words, which lie in one page: what it may
 * read of a word is its first byte, and it does not use what lies behind the end. */
static bool reads_ahead(struct run *r, const struct op *op, gaddr addr)
{
    struct machine_access first = {addr, 1, machine_address_tag(r, op), false};
    return r->ops->seeks_end && op->bytes > 1 && addr % op->bytes == 0 &&
           !machine_is_odd(r->m, &first);
}

static void load(struct run *r)
{
    const struct op *op = r->op;
    gaddr addr = machine_address(r, op);
    if (!reads_ahead(r, op, addr))
        machine_check(r, op, addr, op->bytes, false);
    uint64_t bits = shadow_get(&r->m->shadow, addr, op->bytes);
    r->t->undefined[op->dst] = bits;
    r->t->zero[op->dst] = 0;
    r->t->tag[op->dst] = op->bytes == 8 ? shadow_tag(&r->m->shadow, addr) : 0;
    if (bits)
        r->t->origin[op->dst] = machine_origin_here(r, addr, bits);
}

static void store(struct run *r)
{
    const struct op *op = r->op;
    gaddr addr = machine_address(r, op);
    machine_check(r, op, addr, op->bytes, true);
    uint64_t bits = r->t->undefined[op->src] & machine_mask(op->bytes);
    shadow_put(&r->m->shadow, addr, op->bytes, bits);
    if (bits)
        machine_keep_origin(r, addr, op->bytes, &r->t->origin[op->src]);
    if (op->bytes == 8 && r->t->tag[op->src])
        shadow_set_tag(&r->m->shadow, addr, r->t->tag[op->src]);
}

static void copy_bytes(struct run *r, gaddr target, gaddr source, uint64_t bytes)
{
    struct shadow *s = &r->m->shadow;
    shadow_copy(s, target, source, bytes);
    for (uint64_t i = 0; i < bytes; i += 8) {
        unsigned n = bytes - i < 8 ? (unsigned)(bytes - i) : 8;
        uint64_t bits = shadow_get(s, target + i, n);
        if (bits) {
            struct machine_origin o = machine_origin_here(r, source + i, bits);
            machine_keep_origin(r, target + i, n, &o);
        }
    }
}

static void copy(struct run *r)
{
    const struct op *op = r->op;
    const struct code_block *b = r->m->at.b;
    const struct plan_access *to = &b->access[op->imm], *from = &b->access[op->access];
    uint64_t bytes;
    struct op writes = *op;
    gaddr source = access_extent(b, from, r->values, &bytes);
    gaddr target = access_extent(b, to, r->values, &bytes);
    writes.base = RDI;
    if (!bytes)
        return;
    machine_check(r, op, source, bytes, false);
    machine_check(r, &writes, target, bytes, true);
    if (target - source - 1 < bytes - 1) /* it reads what it has written */
        shadow_fill(&r->m->shadow, target, bytes, false);
    else
        copy_bytes(r, target, source, bytes);
}

static void plain_access(struct run *r)
{
    const struct op *op = r->op;
    const struct plan_access *a = &r->m->at.b->access[op->access];
    bool write = op->kind == OPS_WRITE || (op->kind == OPS_REPEATED && op->dst);
    uint64_t bytes = op->bytes;
    gaddr addr = op->kind == OPS_REPEATED ? access_extent(r->m->at.b, a, r->values, &bytes)
                                          : machine_address(r, op);
    bool exact = a->mem.shape != ACCESS_MASKED && a->mem.shape != ACCESS_STATE;
    bool string = op->vector && r->ops->strings && !write;
    if (exact && bytes && string)
        machine_check_string(r, op, addr, bytes);
    else if (exact && bytes)
        machine_check(r, op, addr, bytes, write);
    if (write)
        machine_define(&r->m->shadow, addr, bytes);
}

static void run_op(struct run *r)
{
    const struct op *op = r->op;
    struct machine_thread *t = r->t;
    switch (op->kind) {
    case OPS_LOAD:
        load(r);
        break;
    case OPS_STORE:
        store(r);
        break;
    case OPS_READ:
    case OPS_WRITE:
    case OPS_REPEATED:
        plain_access(r);
        break;
    case OPS_COPY:
        copy(r);
        break;
    case OPS_MOVE:
        if (t->undefined[op->src])
            t->origin[op->dst] = t->origin[op->src];
        machine_put(t, op, t->undefined[op->src]);
        t->zero[op->dst] = t->zero[op->src];
        t->tag[op->dst] = op->site         ? machine_object(r, op->site)
                          : op->bytes == 8 ? t->tag[op->src]
                                           : 0;
        break;
    case OPS_CLEAR:
        t->undefined[op->dst] = 0;
        t->tag[op->dst] = 0;
        break;
    default:
        if (op->kind >= OPS_VLOAD)
            machine_vectors(r);
        else
            machine_registers(r);
    }
}

/* ---- the stack ---- */

/* Bytes more than a red zone below the stack pointer are nobody's any more. */
static void follow_stack(struct run *r)
{
    enum { SAME_STACK = 16 << 20 };
    const struct ops_stack *s = &r->ops->stack;
    struct machine_thread *t = r->t;
    gaddr end = 0;
    if (s->access == PLAN_NONE && !s->end && !s->lost)
        return;
    if (s->lost)
        end = 0;
    else if (s->access != PLAN_NONE)
        end = code_address(&r->m->at.b->access[s->access], r->values) + (uint64_t)s->end;
    else if (t->sp)
        end = t->sp + (uint64_t)s->end;
    if (!end) {
        t->low = s->other ? 0 : t->low;
        t->sp = 0;
        return;
    }
    gaddr least = end + (uint64_t)s->least;
    if (s->other || !t->low || end - t->low + SAME_STACK > 2 * (uint64_t)SAME_STACK)
        t->low = end;
    t->low = least < t->low ? least : t->low;
    if (end > t->low) {
        shadow_fill(&r->m->shadow, t->low - MACHINE_RED_ZONE, end - t->low, true);
        t->low = end;
    }
    /* nobody keeps anything in a red zone across a call */
    if (r->m->at.b->tail == INSN_CALL || r->m->at.b->tail == INSN_CALL_IND)
        shadow_fill(&r->m->shadow, end - MACHINE_RED_ZONE, MACHINE_RED_ZONE, true);
    t->sp = end;
}

void machine_run(struct machine *m, const struct ops *ops, const uint64_t *values, unsigned insns)
{
    struct run r = {m, &m->thread[m->at.thread], ops, values, ops->op};
    for (const struct op *end = ops->op + ops->count; r.op < end && r.op->insn < insns; r.op++)
        run_op(&r);
    r.t->undefined[RSP] = 0;
    r.t->tag[RSP] = 0;
    if (insns == m->at.b->insns)
        follow_stack(&r);
}

/* Registers that an allocator need not restore are not what they were once it writes to them. One
 * that it leaves alone may be used by a caller that knows its code. */
static void forget_written(struct machine_thread *t, const struct op *op)
{
    enum {
        LOST = 1 << RAX | 1 << RCX | 1 << RDX | 1 << RSI | 1 << RDI | 1 << R8 | 1 << R9 | 1 << R10 |
               1 << R11
    };
    bool to_general = op->kind == OPS_LOAD || (op->kind >= OPS_MOVE && op->kind < OPS_VLOAD) ||
                      op->kind == OPS_VTO || op->kind == OPS_VCONVERT;
    if (to_general && op->dst < GPR_COUNT && LOST >> op->dst & 1) {
        t->undefined[op->dst] = 0;
        t->tag[op->dst] = 0;
    }
    if (op->kind == OPS_EXCHANGE && op->src < GPR_COUNT && LOST >> op->src & 1) {
        t->undefined[op->src] = 0;
        t->tag[op->src] = 0;
    }
}

void machine_run_inside(struct machine *m, const struct ops *ops, const uint64_t *values,
                        unsigned insns)
{
    struct run r = {m, &m->thread[m->at.thread], ops, values, ops->op};
    for (const struct op *end = ops->op + ops->count; r.op < end && r.op->insn < insns; r.op++) {
        const struct op *op = r.op;
        uint64_t bytes = op->bytes;
        forget_written(r.t, op);
        if (op->kind == OPS_STORE || op->kind == OPS_WRITE || op->kind == OPS_VSTORE) {
            machine_define(&m->shadow, machine_address(&r, op), bytes);
        } else if (op->kind == OPS_COPY || (op->kind == OPS_REPEATED && op->dst)) {
            const struct plan_access *a =
                &m->at.b->access[op->kind == OPS_COPY ? op->imm : op->access];
            gaddr addr = access_extent(m->at.b, a, values, &bytes);
            machine_define(&m->shadow, addr, bytes);
        }
    }
    if (insns == m->at.b->insns)
        follow_stack(&r);
}

void machine_deinit(struct machine *m)
{
    shadow_deinit(&m->shadow);
    free(m->origin);
}

void machine_forget(struct machine_thread *t)
{
    t->undefined[RAX] = 0;
    t->tag[RAX] = 0;
    t->flags = 0;
    for (unsigned i = 0; i < LOC_VECS; i++)
        machine_clear_vector(&t->vector[i]);
}
