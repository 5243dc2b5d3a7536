/* machine_vectors.c - operations on vector registers. SPDX-License-Identifier: MIT */
#include "facts/heap/machine_int.h"

static void look_at_vector(struct machine_vector *v)
{
    uint64_t word[LOC_VEC_BYTES / 8], any = 0;
    memcpy(word, v->undefined, sizeof word);
    for (unsigned i = 0; i < LOC_VEC_BYTES / 8; i++)
        any |= word[i] | v->tag[i];
    v->any = any != 0;
}

void machine_clear_vector(struct machine_vector *v)
{
    if (v->any) {
        memset(v->undefined, 0, sizeof v->undefined);
        memset(v->tag, 0, sizeof v->tag);
        v->any = false;
    }
    v->late = 0;
}

static void load_vector(struct run *r)
{
    const struct op *op = r->op;
    struct machine_vector *v = &r->t->vector[op->dst];
    gaddr addr = machine_address(r, op);
    struct machine_access a = {addr, op->bytes, machine_address_tag(r, op), false};
    bool late = r->ops->strings && machine_is_odd(r->m, &a);
    machine_clear_vector(v);
    if (late) {
        machine_check_string(r, op, addr, op->bytes);
        v->late = addr;
        v->late_bytes = op->bytes;
        v->late_tag = a.tag;
    } else if (!r->ops->strings) {
        machine_check(r, op, addr, op->bytes, false);
    }
    for (unsigned i = 0; i < op->bytes; i += 8) {
        unsigned n = op->bytes - i < 8 ? op->bytes - i : 8;
        uint64_t bits = shadow_get(&r->m->shadow, addr + i, n);
        memcpy(v->undefined + i, &bits, n);
        v->tag[i / 8] = n == 8 ? shadow_tag(&r->m->shadow, addr + i) : 0;
        v->any |= bits || v->tag[i / 8];
        if (bits)
            v->origin[i / 8] = machine_origin_here(r, addr + i, bits);
    }
}

static void store_vector(struct run *r)
{
    const struct op *op = r->op;
    struct machine_vector *v = &r->t->vector[op->src];
    gaddr addr = machine_address(r, op);
    machine_check(r, op, addr, op->bytes, true);
    if (v->late) { /* the function has read what it should not, and copied it */
        struct machine_access a = {v->late, v->late_bytes, v->late_tag, false};
        r->m->touched(r->m->arg, &r->m->at, &a);
        v->late = 0;
    }
    if (!v->any) {
        machine_define(&r->m->shadow, addr, op->bytes);
        return;
    }
    for (unsigned i = 0; i < op->bytes; i += 8) {
        unsigned n = op->bytes - i < 8 ? op->bytes - i : 8;
        uint64_t bits = 0;
        memcpy(&bits, v->undefined + i, n);
        shadow_put(&r->m->shadow, addr + i, n, bits);
        if (bits)
            machine_keep_origin(r, addr + i, n, &v->origin[i / 8]);
        if (n == 8 && v->tag[i / 8])
            shadow_set_tag(&r->m->shadow, addr + i, v->tag[i / 8]);
    }
}

static void move_vector(struct machine_thread *t, const struct op *op)
{
    struct machine_vector *to = &t->vector[op->dst], from = t->vector[op->src];
    if (!to->any && !from.any) {
        to->late = from.late;
        to->late_bytes = from.late_bytes;
        to->late_tag = from.late_tag;
        return;
    }
    if (op->kind == OPS_VMOVE) {
        memset(from.undefined + op->bytes, 0, sizeof from.undefined - op->bytes);
        for (unsigned i = op->bytes / 8; i < LOC_VEC_BYTES / 8; i++)
            from.tag[i] = 0;
        *to = from;
    } else if (op->kind == OPS_VMERGE) {
        memcpy(to->undefined, from.undefined, op->bytes);
        to->tag[0] = op->bytes == 8 ? from.tag[0] : 0;
        to->origin[0] = from.origin[0];
    } else {
        memcpy(to->undefined + 8, from.undefined, 8);
        to->tag[1] = from.tag[0];
        to->origin[1] = from.origin[0];
    }
    look_at_vector(to);
}

/* Bits of a sum depend on those to the right of them in their element. */
static uint64_t spread(uint64_t bits, unsigned each)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 8; i += each) {
        uint64_t x = bits >> 8 * i & machine_mask(each);
        out |= ((x | -x) & machine_mask(each)) << 8 * i;
    }
    return out;
}

static void add_vectors(struct machine_thread *t, const struct op *op)
{
    struct machine_vector *d = &t->vector[op->dst], *s = &t->vector[op->src];
    d->late = 0;
    if (!d->any && !s->any)
        return;
    for (unsigned i = 0; i < op->bytes; i += 8) {
        uint64_t a, b;
        memcpy(&a, d->undefined + i, sizeof a);
        memcpy(&b, s->undefined + i, sizeof b);
        if (b && !a)
            d->origin[i / 8] = s->origin[i / 8];
        a = spread(a | b, op->more);
        memcpy(d->undefined + i, &a, sizeof a);
        d->tag[i / 8] = 0;
    }
    look_at_vector(d);
}

static void slide_vector(struct machine_thread *t, const struct op *op)
{
    struct machine_vector *d = &t->vector[op->dst];
    const struct machine_vector from = *d;
    d->late = 0;
    if (!from.any)
        return;
    for (unsigned i = 0; i < op->bytes; i++) {
        uint64_t k = op->src ? i - op->imm : i + op->imm;
        d->undefined[i] = k < op->bytes ? from.undefined[k] : 0;
        if (d->undefined[i])
            d->origin[i / 8] = from.origin[k / 8];
    }
    bool high = op->imm == 8;
    d->tag[0] = high && !op->src ? from.tag[1] : 0;
    d->tag[1] = high && op->src ? from.tag[0] : 0;
    look_at_vector(d);
}

static uint64_t low_of(const struct machine_vector *v, unsigned bytes)
{
    uint64_t bits = 0;
    if (v->any)
        memcpy(&bits, v->undefined, bytes);
    return bits;
}

/* Vectors and general registers together. */
static void with_registers(struct run *r)
{
    const struct op *op = r->op;
    struct machine_thread *t = r->t;
    struct machine_vector *d = &t->vector[op->dst % OPS_VECTORS],
                          *s = &t->vector[op->src % OPS_VECTORS];
    uint64_t bits;
    switch (op->kind) {
    case OPS_VFROM:
        machine_clear_vector(d);
        bits = t->undefined[op->src] & machine_mask(op->bytes);
        memcpy(d->undefined, &bits, sizeof bits);
        d->tag[0] = op->bytes == 8 ? t->tag[op->src] : 0;
        d->any = bits || d->tag[0];
        d->origin[0] = t->origin[op->src];
        break;
    case OPS_VTO:
        t->zero[op->dst] = 0;
        t->undefined[op->dst] = low_of(s, op->bytes);
        t->tag[op->dst] = s->any && op->bytes == 8 ? s->tag[0] : 0;
        t->origin[op->dst] = s->origin[0];
        break;
    case OPS_VMIX:
        bits = low_of(d, op->bytes) | low_of(s, op->bytes) ? machine_mask(op->bytes) : 0;
        if (low_of(s, op->bytes))
            d->origin[0] = s->origin[0];
        if (bits || d->any) {
            memcpy(d->undefined, &bits, op->bytes);
            d->tag[0] = 0;
            look_at_vector(d);
        }
        break;
    case OPS_VCMP:
        bits = low_of(d, op->bytes) | low_of(s, op->bytes);
        t->flags = bits ? MACHINE_ALL_FLAGS : 0;
        t->flags_origin = low_of(d, op->bytes) ? d->origin[0] : s->origin[0];
        break;
    default: /* OPS_VCONVERT */
        t->zero[op->dst] = 0;
        t->undefined[op->dst] = low_of(s, op->more) ? machine_mask(op->bytes) : 0;
        t->tag[op->dst] = 0;
        t->origin[op->dst] = s->origin[0];
    }
}

void machine_vectors(struct run *r)
{
    switch (r->op->kind) {
    case OPS_VLOAD:
        load_vector(r);
        break;
    case OPS_VSTORE:
        store_vector(r);
        break;
    case OPS_VMOVE:
    case OPS_VMERGE:
    case OPS_VJOIN:
        move_vector(r->t, r->op);
        break;
    case OPS_VADD:
        add_vectors(r->t, r->op);
        break;
    case OPS_VSLIDE:
        slide_vector(r->t, r->op);
        break;
    case OPS_VCLEAR:
        machine_clear_vector(&r->t->vector[r->op->dst]);
        break;
    default:
        with_registers(r);
    }
}
