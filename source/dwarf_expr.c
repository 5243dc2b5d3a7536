/* dwarf_expr.c - evaluates location expressions, mostly without registers and memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * DWARF 5, sections 2.5 and 2.6. Values on the stack are known or not. For values that are
 * computed, the evaluation notes what the expression reads. A value made from an unknown one is
 * unknown. rbp and rsp are known if the CFA is, and is their sum with a number at this pc.
 */
#include <dwarf.h>
#include <string.h>

#include "source/frame.h"
#include "source/place.h"

enum { STACK = 32, NESTED = 4, BYTES_DEREF = 8 };

struct value {
    bool known;
    uint64_t v;
};

struct eval {
    const struct source_view *view;
    Dwarf_Attribute *attribute;
    struct source_place *out;
    struct value stack[STACK];
    uint32_t depth;
    int nested;
    bool failed;   /* an operation that is not understood */
    bool finished; /* `piece` is what the operations before described */
    bool stack_value;
    struct source_piece piece;
};

static void push(struct eval *e, bool known, uint64_t v)
{
    if (e->depth == STACK)
        e->failed = true;
    else
        e->stack[e->depth++] = (struct value){known, known ? v : 0};
}

static struct value pop(struct eval *e)
{
    if (!e->depth) {
        e->failed = true;
        return (struct value){0};
    }
    return e->stack[--e->depth];
}

static bool same_read(const struct source_read *a, const struct source_read *b)
{
    return a->memory == b->memory && a->at_entry == b->at_entry && a->known == b->known &&
           a->address == b->address && a->reg == b->reg && a->bytes == b->bytes;
}

static void note_read(struct eval *e, const struct source_read *read)
{
    struct source_place *out = e->out;

    for (uint32_t i = 0; i < out->reads; i++)
        if (same_read(&out->read[i], read))
            return;
    if (out->reads < SOURCE_READS)
        out->read[out->reads++] = *read;
    else
        e->failed = true;
}

/* A register's value: as given, or by the CFA. */
static struct value reg_value(const struct source_view *view, unsigned reg)
{
    struct source_cfa cfa;

    if (view->frame && view->frame->reg && reg <= 16)
        return (struct value){true, view->frame->reg[reg]};
    if (view->here && view->frame && view->frame->cfa &&
        source_cfa(view->s, view->addr + view->here->bias, &cfa) && cfa.reg == reg)
        return (struct value){true, view->frame->cfa - (uint64_t)cfa.offset};
    return (struct value){0};
}

static void push_reg(struct eval *e, unsigned reg, uint64_t offset)
{
    struct value value = reg_value(e->view, reg);
    struct source_read read;

    memset(&read, 0, sizeof read); /* they are compared as bytes */
    read.reg = (uint16_t)reg;
    read.bytes = 8;
    note_read(e, &read);
    push(e, value.known, value.v + offset);
}

static void run(struct eval *e, Dwarf_Op *op, size_t count);

/* The base that DW_OP_fbreg adds to: the value of a register, or what an expression gives. */
static struct value frame_base(struct eval *e)
{
    struct source_mod *m = e->view->here;
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    Dwarf_Op *op;
    size_t count;

    if (!m || e->nested >= NESTED)
        return (struct value){0};
    int32_t function = source_scopes_function(m, source_scopes_at(m, e->view->addr));
    if (function == SOURCE_NONE ||
        !source_scopes_die(m, m->scope[function].unit, m->scope[function].die, &die) ||
        !dwarf_attr_integrate(&die, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, e->view->addr, &op, &count, 1) != 1 || !count)
        return (struct value){0};
    if (count == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return reg_value(e->view, op->atom - DW_OP_reg0);
    struct source_place unused = {0};
    struct eval inner = {
        .view = e->view, .attribute = &attribute, .out = &unused, .nested = e->nested + 1};
    run(&inner, op, count);
    struct value value = inner.failed || inner.finished ? (struct value){0} : pop(&inner);
    return inner.failed ? (struct value){0} : value;
}

static void deref(struct eval *e, unsigned bytes)
{
    struct value address = pop(e);
    struct source_read read;

    memset(&read, 0, sizeof read);
    read.memory = true;
    read.known = address.known;
    read.address = address.v;
    read.bytes = (uint16_t)bytes;
    note_read(e, &read);
    const struct source_frame *frame = e->view->frame;
    uint64_t v = 0;
    bool known = address.known && frame && frame->memory && bytes <= sizeof v &&
                 frame->memory(frame->arg, address.v, &v, bytes) == bytes;
    push(e, known, v);
}

/* Comparisons are of signed numbers. */
static bool compare(unsigned atom, int64_t x, int64_t y, uint64_t *v)
{
    switch (atom) {
    case DW_OP_eq:
        *v = x == y;
        return true;
    case DW_OP_ne:
        *v = x != y;
        return true;
    case DW_OP_lt:
        *v = x < y;
        return true;
    case DW_OP_le:
        *v = x <= y;
        return true;
    case DW_OP_gt:
        *v = x > y;
        return true;
    case DW_OP_ge:
        *v = x >= y;
        return true;
    default:
        return false;
    }
}

static bool shift(unsigned atom, uint64_t x, uint64_t y, uint64_t *v)
{
    switch (atom) {
    case DW_OP_shl:
        *v = y < 64 ? x << y : 0;
        return true;
    case DW_OP_shr:
        *v = y < 64 ? x >> y : 0;
        return true;
    case DW_OP_shra:
        *v = (uint64_t)((int64_t)x >> (y < 64 ? y : 63));
        return true;
    default:
        return false;
    }
}

static bool divide(unsigned atom, uint64_t x, uint64_t y, uint64_t *v, bool *known)
{
    if (atom != DW_OP_div && atom != DW_OP_mod)
        return false;
    *known = *known && y && !(y == UINT64_MAX && x == 1ull << 63);
    if (*known)
        *v = atom == DW_OP_mod ? x % y : (uint64_t)((int64_t)x / (int64_t)y);
    return true;
}

static bool combine(unsigned atom, uint64_t x, uint64_t y, uint64_t *v)
{
    switch (atom) {
    case DW_OP_plus:
        *v = x + y;
        return true;
    case DW_OP_minus:
        *v = x - y;
        return true;
    case DW_OP_mul:
        *v = x * y;
        return true;
    case DW_OP_and:
        *v = x & y;
        return true;
    case DW_OP_or:
        *v = x | y;
        return true;
    case DW_OP_xor:
        *v = x ^ y;
        return true;
    default:
        return false;
    }
}

/* Operations on the two topmost values; all others have been looked for before. */
static void binary(struct eval *e, unsigned atom)
{
    struct value b = pop(e), a = pop(e);
    bool known = a.known && b.known;
    uint64_t v = 0;

    if (!combine(atom, a.v, b.v, &v) && !shift(atom, a.v, b.v, &v) &&
        !compare(atom, (int64_t)a.v, (int64_t)b.v, &v) && !divide(atom, a.v, b.v, &v, &known))
        e->failed = true;
    push(e, known, v);
}

/* Operations that copy or move what is on the stack. */
static bool shuffle(struct eval *e, unsigned atom, uint64_t index)
{
    struct value a, b, c;

    switch (atom) {
    case DW_OP_drop:
        pop(e);
        return true;
    case DW_OP_swap:
        a = pop(e), b = pop(e);
        push(e, a.known, a.v);
        push(e, b.known, b.v);
        return true;
    case DW_OP_rot:
        a = pop(e), b = pop(e), c = pop(e);
        push(e, a.known, a.v);
        push(e, c.known, c.v);
        push(e, b.known, b.v);
        return true;
    case DW_OP_dup:
        index = 0;
        break;
    case DW_OP_over:
        index = 1;
        break;
    case DW_OP_pick:
        break;
    default:
        return false;
    }
    if (index < e->depth)
        push(e, e->stack[e->depth - 1 - index].known, e->stack[e->depth - 1 - index].v);
    else
        e->failed = true;
    return true;
}

static void push_address(struct eval *e, Dwarf_Op *op)
{
    Dwarf_Attribute result;
    Dwarf_Addr addr;

    if (op->atom == DW_OP_addr)
        push(e, true, op->number + e->view->m->bias);
    else if (e->attribute && !dwarf_getlocation_attr(e->attribute, op, &result) &&
             !dwarf_formaddr(&result, &addr))
        push(e, true,
             addr + (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index ? e->view->m->bias
                                                                                 : 0));
    else
        e->failed = true;
}

/* The value that a register had when the function was entered. */
static void push_entry_value(struct eval *e, Dwarf_Op *op)
{
    Dwarf_Op *inner;
    size_t count;
    Dwarf_Attribute result;
    struct source_read read;

    if (!e->attribute || dwarf_getlocation_attr(e->attribute, op, &result) ||
        dwarf_getlocation(&result, &inner, &count) || count != 1 || inner->atom < DW_OP_reg0 ||
        inner->atom > DW_OP_reg31) {
        e->failed = true;
        return;
    }
    memset(&read, 0, sizeof read);
    read.at_entry = true;
    read.reg = (uint16_t)(inner->atom - DW_OP_reg0);
    read.bytes = 8;
    note_read(e, &read);
    const uint64_t *entry = e->view->frame ? e->view->frame->entry : NULL;
    bool known = entry && read.reg < 16;
    push(e, known, known ? entry[read.reg] : 0);
}

static void describe(struct eval *e, enum source_where where, uint16_t reg, uint64_t value)
{
    e->piece = (struct source_piece){.where = where, .reg = reg, .value = value};
    e->finished = true;
}

static void implicit_value(struct eval *e, Dwarf_Op *op)
{
    Dwarf_Block block;
    uint64_t value = 0;

    if (dwarf_getlocation_implicit_value(e->attribute, op, &block)) {
        e->failed = true;
        return;
    }
    memcpy(&value, block.data, block.length < sizeof value ? block.length : sizeof value);
    describe(e, SOURCE_CONSTANT, 0, value);
}

/* What the operations up to here described becomes a piece. */
static void end_piece(struct eval *e, uint32_t bytes, uint32_t reads_before)
{
    struct source_place *out = e->out;
    struct source_piece piece = e->piece;

    if (!e->finished && !e->depth) {
        piece = (struct source_piece){.where = SOURCE_NOWHERE};
    } else if (!e->finished) {
        struct value top = pop(e);
        piece = (struct source_piece){.where = SOURCE_MEMORY, .address = top.v};
        if (e->stack_value) {
            piece.where =
                out->reads == reads_before && top.known ? SOURCE_CONSTANT : SOURCE_COMPUTED;
            piece.address = 0;
            piece.value = top.v;
            piece.known = top.known;
        } else {
            e->failed |= !top.known;
        }
    }
    if (piece.where != SOURCE_COMPUTED)
        out->reads = reads_before;
    piece.bytes = bytes;
    if (out->pieces < SOURCE_PIECES)
        out->piece[out->pieces++] = piece;
    else
        e->failed = true;
    e->finished = e->stack_value = false;
    e->depth = 0;
}

/* Operations that push a number. */
static bool step_number(struct eval *e, Dwarf_Op *op)
{
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        push(e, true, op->atom - DW_OP_lit0);
        return true;
    }
    switch (op->atom) {
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        push(e, true, op->number);
        return true;
    case DW_OP_const_type:
    case DW_OP_GNU_const_type:
        push(e, false, 0);
        return true;
    case DW_OP_addr:
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index:
        push_address(e, op);
        return true;
    default:
        return false;
    }
}

/* Operations that push what the frame, the thread or a register has. */
static bool step_frame(struct eval *e, Dwarf_Op *op)
{
    const struct source_frame *frame = e->view->frame;
    struct value value;

    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        push_reg(e, op->atom - DW_OP_breg0, op->number);
        return true;
    }
    switch (op->atom) {
    case DW_OP_bregx:
        push_reg(e, (unsigned)op->number, op->number2);
        return true;
    case DW_OP_regval_type:
    case DW_OP_GNU_regval_type:
        push_reg(e, (unsigned)op->number, 0);
        return true;
    case DW_OP_fbreg:
        value = frame_base(e);
        push(e, value.known, value.v + op->number);
        return true;
    case DW_OP_call_frame_cfa:
        push(e, frame && frame->cfa, frame ? frame->cfa : 0);
        return true;
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address: {
        gaddr base = source_place_tls(e->view->m, e->view->here, frame);
        if (!base)
            base = source_tls_base(e->view->s, e->view->m, frame);
        value = pop(e);
        push(e, value.known && base, value.v + base);
        return true;
    }
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        push_entry_value(e, op);
        return true;
    default:
        return false;
    }
}

/* Operations on the top of the stack. */
static bool step_top(struct eval *e, Dwarf_Op *op)
{
    struct value value;

    switch (op->atom) {
    case DW_OP_deref:
        deref(e, BYTES_DEREF);
        return true;
    case DW_OP_deref_size:
    case DW_OP_deref_type:
    case DW_OP_GNU_deref_type:
        deref(e, (unsigned)op->number);
        return true;
    case DW_OP_nop:
    case DW_OP_convert: /* the value is made from the same */
    case DW_OP_reinterpret:
    case DW_OP_GNU_convert:
    case DW_OP_GNU_reinterpret:
        return true;
    case DW_OP_plus_uconst:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_abs:
        break;
    default:
        return false;
    }
    value = pop(e);
    uint64_t v = op->atom == DW_OP_plus_uconst ? value.v + op->number
                 : op->atom == DW_OP_not       ? ~value.v
                                               : -value.v;
    if (op->atom == DW_OP_abs && (int64_t)value.v >= 0)
        v = value.v;
    push(e, value.known, v);
    return true;
}

/* Operations that say what the place is. */
static bool step_place(struct eval *e, Dwarf_Op *op)
{
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        describe(e, SOURCE_REGISTER, (uint16_t)(op->atom - DW_OP_reg0), 0);
        return true;
    }
    switch (op->atom) {
    case DW_OP_regx:
        describe(e, SOURCE_REGISTER, (uint16_t)op->number, 0);
        return true;
    case DW_OP_implicit_value:
        implicit_value(e, op);
        return true;
    case DW_OP_implicit_pointer:
    case DW_OP_GNU_implicit_pointer:
        describe(e, SOURCE_NOWHERE, 0, 0);
        return true;
    case DW_OP_stack_value:
        e->stack_value = true;
        return true;
    default:
        return false;
    }
}

static void run(struct eval *e, Dwarf_Op *op, size_t count)
{
    uint32_t reads = e->out->reads;

    for (size_t i = 0; i < count && !e->failed; i++) {
        if (op[i].atom == DW_OP_piece || op[i].atom == DW_OP_bit_piece) {
            uint64_t size = op[i].atom == DW_OP_piece ? op[i].number : (op[i].number + 7) / 8;
            end_piece(e, (uint32_t)size, reads);
            reads = e->out->reads;
        } else if (!step_number(e, &op[i]) && !step_frame(e, &op[i]) && !step_top(e, &op[i]) &&
                   !step_place(e, &op[i]) && !shuffle(e, op[i].atom, op[i].number)) {
            binary(e, op[i].atom);
        }
    }
}

bool source_expr_run(const struct source_view *view, Dwarf_Attribute *attribute, Dwarf_Op *op,
                     size_t count, struct source_place *out)
{
    struct eval e = {.view = view, .attribute = attribute, .out = out};

    run(&e, op, count);
    if (!e.failed && (!out->pieces || e.finished || e.depth))
        end_piece(&e, (uint32_t)out->bytes, 0);
    return !e.failed;
}
