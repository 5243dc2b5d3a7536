/* machine_registers.c - operations on general registers and flags. SPDX-License-Identifier: MIT */
#include "facts/heap/machine_int.h"

static void origin_from(struct machine_thread *t, const struct op *op)
{
    if (t->undefined[op->src])
        t->origin[op->dst] = t->origin[op->src];
}

/* Does the outcome of a comparison surely depend on undefined bits? Where others of the value are
 * defined they may decide it, as where a short text is compared by words. They do not if all that
 * count are undefined, or if only zeros or signs are above. */
static bool decides(uint64_t bits, uint64_t all)
{
    return bits &&
           (bits == all || bits == 1 || bits == 0xff || bits == 0xffff || bits == 0xffffffff);
}

/* Flags of a result whose bits these are, of a logical operation. */
static void flags_of(struct machine_thread *t, const struct op *op, uint64_t bits)
{
    bits &= machine_mask(op->bytes);
    t->flags = 0;
    if (!bits)
        return;
    unsigned reg = t->undefined[op->dst] ? op->dst : op->src;
    uint64_t all = machine_mask(op->bytes) & ~t->zero[op->dst];
    if (op->kind == OPS_AND_IMM || op->kind == OPS_TEST_IMM)
        all &= op->imm;
    if (op->kind == OPS_OR_IMM && op->imm)
        all = 0; /* it is not zero */
    t->flags = (uint16_t)((all && decides(bits, all) ? FLAG_ZF : 0) |
                          (bits >> (8 * op->bytes - 1) & 1 ? FLAG_SF : 0));
    t->flags_origin = t->origin[reg];
}

/* All that a carry may reach. */
static uint64_t carried(uint64_t bits)
{
    return bits | -bits;
}

static void flags_sum(struct machine_thread *t, const struct op *op, uint64_t bits)
{
    uint16_t kept = t->flags & op->flags;
    uint64_t all = machine_mask(op->bytes) & ~t->zero[op->dst];
    t->flags = (uint16_t)((decides(bits & all, all) ? MACHINE_ALL_FLAGS & ~op->flags : 0) | kept);
    if (bits)
        t->flags_origin = t->origin[t->undefined[op->dst] ? op->dst : op->src];
}

/* No pointer any more. */
static uint32_t spoiled(uint32_t tag)
{
    return tag ? MACHINE_DISTANCE : 0;
}

static void sum(struct machine_thread *t, const struct op *op)
{
    uint64_t bits = (t->undefined[op->dst] | t->undefined[op->src]) & machine_mask(op->bytes);
    uint32_t a = t->tag[op->dst], b = t->tag[op->src];
    bool same = op->dst == op->src;
    if (same && op->kind == OPS_SUB)
        bits = 0;
    flags_sum(t, op, bits);
    if (bits && !t->undefined[op->dst])
        t->origin[op->dst] = t->origin[op->src];
    machine_put(t, op, carried(bits));
    if (op->bytes != 8)
        t->tag[op->dst] = 0;
    else if (op->kind == OPS_ADD)
        t->tag[op->dst] = machine_tag_sum(a, b);
    else if (op->more)
        t->tag[op->dst] = spoiled(a);
    else
        t->tag[op->dst] = !b ? a : a == b ? 0 : MACHINE_DISTANCE;
}

static void compare(struct machine_thread *t, const struct op *op)
{
    uint64_t bits = (t->undefined[op->dst] | t->undefined[op->src]) & machine_mask(op->bytes);
    flags_sum(t, op, op->dst == op->src ? 0 : bits);
}

static void carry(struct machine_thread *t, const struct op *op)
{
    uint64_t bits = (t->undefined[op->dst] | t->undefined[op->src]) & machine_mask(op->bytes);
    if (op->dst == op->src)
        bits = 0;
    if (t->flags & FLAG_CF) {
        if (!bits)
            t->origin[op->dst] = t->flags_origin;
        bits |= 1;
    } else if (bits && !t->undefined[op->dst]) {
        t->origin[op->dst] = t->origin[op->src];
    }
    t->tag[op->dst] = 0;
    machine_put(t, op, carried(bits));
    t->flags = bits ? MACHINE_ALL_FLAGS : 0;
    t->flags_origin = t->origin[op->dst];
}

static void logic(struct machine_thread *t, const struct op *op)
{
    uint64_t a = t->undefined[op->dst], b = t->undefined[op->src], bits;
    uint32_t tag = t->tag[op->dst];
    bool keeps = false;
    switch (op->kind) {
    case OPS_AND_IMM:
    case OPS_TEST_IMM:
        bits = a & op->imm;
        keeps = op->imm >= (uint64_t)-64;
        break;
    case OPS_OR_IMM:
        bits = a & ~op->imm;
        keeps = op->imm < 8 && !op->more;
        break;
    case OPS_XOR:
        bits = op->dst == op->src ? 0 : a | b;
        if (bits && !a)
            t->origin[op->dst] = t->origin[op->src];
        break;
    default: /* of two values: only where both are undefined is the result so */
        bits = op->dst == op->src ? a : a & b;
        keeps = op->dst == op->src;
    }
    flags_of(t, op, bits);
    if (op->kind == OPS_TEST || op->kind == OPS_TEST_IMM)
        return;
    machine_put(t, op, bits);
    if (op->kind == OPS_AND_IMM)
        t->zero[op->dst] = ~op->imm;
    t->tag[op->dst] = op->bytes != 8                              ? 0
                      : keeps                                     ? tag
                      : op->dst == op->src && op->kind == OPS_XOR ? 0
                                                                  : spoiled(tag | t->tag[op->src]);
}

static void shift(struct machine_thread *t, const struct op *op)
{
    uint64_t mask = machine_mask(op->bytes), a = t->undefined[op->dst] & mask, bits;
    unsigned n = (unsigned)op->imm, width = 8u * op->bytes;
    if (op->kind != OPS_SHIFT && n >= width)
        n %= width;
    switch (op->kind) {
    case OPS_SHL:
        bits = a << n;
        break;
    case OPS_SHR:
        bits = a >> n;
        break;
    case OPS_SAR:
        bits = a >> n | (a >> (width - 1) & 1 ? ~(mask >> n) & mask : 0);
        break;
    case OPS_ROL:
        bits = n ? a << n | a >> (width - n) : a;
        break;
    default: /* by how much is not known */
        bits = a == mask ? mask : 0;
    }
    flags_of(t, op, op->kind == OPS_ROL ? 0 : bits);
    machine_put(t, op, bits);
    t->tag[op->dst] = spoiled(t->tag[op->dst]);
}

static void lea(struct run *r)
{
    const struct op *op = r->op;
    struct machine_thread *t = r->t;
    uint64_t bits = t->undefined[op->base] | t->undefined[op->index];
    uint32_t index = t->tag[op->index];
    uint32_t base = op->site ? machine_object(r, op->site) : t->tag[op->base];
    uint32_t tag = machine_tag_sum(base, op->more > 1 ? spoiled(index) : index);
    if (bits)
        t->origin[op->dst] = t->origin[t->undefined[op->base] ? op->base : op->index];
    machine_put(t, op, carried(bits));
    t->tag[op->dst] = op->bytes == 8 ? tag : 0;
}

static void extend(struct machine_thread *t, const struct op *op)
{
    uint64_t bits = t->undefined[op->src] & machine_mask(op->bytes);
    if (bits)
        origin_from(t, op);
    if (op->kind == OPS_SIGN && bits >> (8 * op->bytes - 1) & 1)
        bits |= machine_mask(op->more) & ~machine_mask(op->bytes);
    if (op->kind == OPS_SPREAD)
        bits = bits >> (8 * op->bytes - 1) & 1 ? machine_mask(op->bytes) : 0;
    t->undefined[op->dst] = bits;
    t->zero[op->dst] = 0;
    t->tag[op->dst] = 0;
}

static void choose(struct machine_thread *t, const struct op *op)
{
    uint64_t bits = t->undefined[op->dst] & t->undefined[op->src];
    uint32_t a = t->tag[op->dst], b = t->tag[op->src];
    machine_put(t, op, bits);
    t->tag[op->dst] = op->bytes == 8 && a == b ? a : 0;
}

static void swap(struct machine_thread *t, const struct op *op)
{
    uint64_t a = t->undefined[op->dst];
    if (a != machine_mask(op->bytes))
        a = 0; /* the bytes that decide come to the top: it is about the order of texts */
    machine_put(t, op, op->bytes == 8 ? __builtin_bswap64(a) : __builtin_bswap32((uint32_t)a));
    t->tag[op->dst] = spoiled(t->tag[op->dst]);
}

static void exchange(struct machine_thread *t, const struct op *op)
{
    uint64_t bits = t->undefined[op->dst], mask = machine_mask(op->bytes);
    uint32_t tag = t->tag[op->dst];
    struct machine_origin origin = t->origin[op->dst];
    t->undefined[op->dst] = t->undefined[op->src] & mask;
    t->undefined[op->src] = bits & mask;
    t->zero[op->dst] = t->zero[op->src] = 0;
    t->tag[op->dst] = op->bytes == 8 ? t->tag[op->src] : 0;
    t->tag[op->src] = op->bytes == 8 ? tag : 0;
    t->origin[op->dst] = t->origin[op->src];
    t->origin[op->src] = origin;
}

static void use(struct run *r, enum machine_use how, const struct machine_origin *origin)
{
    r->m->at.i = r->op->insn;
    r->m->used(r->m->arg, &r->m->at, how, origin);
}

/* Conditions, and what is left. */
static void conditions(struct run *r)
{
    const struct op *op = r->op;
    struct machine_thread *t = r->t;
    switch (op->kind) {
    case OPS_SET:
        machine_put(t, op, t->flags & op->flags ? 1 : 0);
        t->tag[op->dst] = 0;
        if (t->flags & op->flags)
            t->origin[op->dst] = t->flags_origin;
        break;
    case OPS_BIT:
        t->flags = t->undefined[op->src] >> op->imm & 1 ? FLAG_CF : 0;
        t->flags_origin = t->origin[op->src];
        break;
    case OPS_BRANCH:
        if (t->flags & op->flags) {
            use(r, MACHINE_BRANCH, &t->flags_origin);
            t->flags = 0;
        }
        break;
    case OPS_GOES:
        if (t->undefined[op->src]) {
            use(r, MACHINE_ADDRESS, &t->origin[op->src]);
            t->undefined[op->src] = 0;
        }
        break;
    case OPS_MUL:
        t->flags = 0;
        if (t->undefined[op->src] && !t->undefined[op->dst])
            t->origin[op->dst] = t->origin[op->src];
        machine_put(
            t, op,
            carried((t->undefined[op->dst] | t->undefined[op->src]) & machine_mask(op->bytes)));
        t->tag[op->dst] = spoiled(t->tag[op->dst] | t->tag[op->src]);
        break;
    case OPS_FLAGS:
        t->flags &= (uint16_t)~op->flags;
        break;
    default: /* OPS_NOT: the same bits */
        t->tag[op->dst] = spoiled(t->tag[op->dst]);
    }
}

void machine_registers(struct run *r)
{
    const struct op *op = r->op;
    struct machine_thread *t = r->t;
    switch (op->kind) {
    case OPS_WIDEN:
    case OPS_SIGN:
    case OPS_SPREAD:
        extend(t, op);
        break;
    case OPS_LEA:
        lea(r);
        break;
    case OPS_ADD:
    case OPS_SUB:
        sum(t, op);
        break;
    case OPS_ADD_IMM:
        if (t->undefined[op->dst] || t->flags) {
            flags_sum(t, op, t->undefined[op->dst] & machine_mask(op->bytes));
            machine_put(t, op, carried(t->undefined[op->dst] & machine_mask(op->bytes)));
        }
        t->tag[op->dst] = op->bytes == 8 ? t->tag[op->dst] : 0;
        break;
    case OPS_CMP:
    case OPS_CMP_IMM:
        compare(t, op);
        break;
    case OPS_CARRY:
        carry(t, op);
        break;
    case OPS_AND:
    case OPS_AND_IMM:
    case OPS_TEST:
    case OPS_TEST_IMM:
    case OPS_OR:
    case OPS_OR_IMM:
    case OPS_XOR:
        logic(t, op);
        break;
    case OPS_SHL:
    case OPS_SHR:
    case OPS_SAR:
    case OPS_ROL:
    case OPS_SHIFT:
        shift(t, op);
        break;
    case OPS_SWAP:
        swap(t, op);
        break;
    case OPS_EXCHANGE:
        exchange(t, op);
        break;
    case OPS_CHOOSE:
        choose(t, op);
        break;
    default:
        conditions(r);
    }
}
