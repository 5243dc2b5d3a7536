/* source_place.c - evaluates location expressions without memory, and mostly without registers.
 *
 * SPDX-License-Identifier: MIT
 *
 * DWARF 5, sections 2.5 and 2.6. Values on the stack are known or not. What an expression reads is
 * noted, for values that are computed; what cannot be known makes everything made from it unknown.
 * rbp and rsp are known if the CFA is, and is their sum with a number at this pc.
 */
#include "slicer/source_place.h"

#include <dwarf.h>
#include <string.h>

#include "slicer/source_frame.h"

enum { STACK = 32, NESTED = 4, BYTES_DEREF = 8 };

struct value {
    bool known;
    uint64_t v;
};

struct eval {
    const struct source_view *view;
    Dwarf_Attribute *attribute;
    const struct source_var *var;
    struct source_place *out;
    struct value stack[STACK];
    uint32_t depth;
    int nested;
    bool failed;   /* an operation that is not understood */
    bool finished; /* `piece` is what the operations before described */
    bool stack_value;
    struct source_piece piece;
};

gaddr source_place_tls(const struct source_mod *m, const struct source_mod *here,
                       const struct source_frame *frame)
{
    if (!frame)
        return 0;
    if (m->executable && frame->fs_base && m->tls_align) {
        uint64_t block = (m->tls_bytes + m->tls_align - 1) / m->tls_align * m->tls_align;
        return frame->fs_base - block;
    }
    return m == here ? frame->tls_base : 0;
}

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

static void note_read(struct eval *e, const struct source_read *read)
{
    struct source_place *out = e->out;

    for (uint32_t i = 0; i < out->reads; i++)
        if (memcmp(&out->read[i], read, sizeof *read) == 0)
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
    if (function == SOURCE_NONE || !dwarf_offdie(m->dwarf, m->scope[function].die, &die) ||
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
    push(e, false, 0);
}

static void binary(struct eval *e, unsigned atom)
{
    struct value b = pop(e), a = pop(e);
    uint64_t x = a.v, y = b.v, v = 0;
    bool known = a.known && b.known;

    switch (atom) {
    case DW_OP_plus:
        v = x + y;
        break;
    case DW_OP_minus:
        v = x - y;
        break;
    case DW_OP_mul:
        v = x * y;
        break;
    case DW_OP_and:
        v = x & y;
        break;
    case DW_OP_or:
        v = x | y;
        break;
    case DW_OP_xor:
        v = x ^ y;
        break;
    case DW_OP_shl:
        v = y < 64 ? x << y : 0;
        break;
    case DW_OP_shr:
        v = y < 64 ? x >> y : 0;
        break;
    case DW_OP_shra:
        v = (uint64_t)((int64_t)x >> (y < 64 ? y : 63));
        break;
    case DW_OP_eq:
        v = x == y;
        break;
    case DW_OP_ne:
        v = x != y;
        break;
    case DW_OP_lt:
        v = (int64_t)x < (int64_t)y;
        break;
    case DW_OP_le:
        v = (int64_t)x <= (int64_t)y;
        break;
    case DW_OP_gt:
        v = (int64_t)x > (int64_t)y;
        break;
    case DW_OP_ge:
        v = (int64_t)x >= (int64_t)y;
        break;
    case DW_OP_div:
        known = known && y && !(y == UINT64_MAX && x == 1ull << 63);
        v = known ? (uint64_t)((int64_t)x / (int64_t)y) : 0;
        break;
    case DW_OP_mod:
        known = known && y;
        v = known ? x % y : 0;
        break;
    default:
        e->failed = true;
        break;
    }
    push(e, known, v);
}

static void shuffle(struct eval *e, unsigned atom, uint64_t index)
{
    struct value a, b, c;

    switch (atom) {
    case DW_OP_dup:
        index = 0;
        break;
    case DW_OP_over:
        index = 1;
        break;
    case DW_OP_drop:
        pop(e);
        return;
    case DW_OP_swap:
        a = pop(e), b = pop(e);
        push(e, a.known, a.v);
        push(e, b.known, b.v);
        return;
    case DW_OP_rot:
        a = pop(e), b = pop(e), c = pop(e);
        push(e, a.known, a.v);
        push(e, c.known, c.v);
        push(e, b.known, b.v);
        return;
    default:
        break;
    }
    if (index >= e->depth) {
        e->failed = true;
        return;
    }
    a = e->stack[e->depth - 1 - index];
    push(e, a.known, a.v);
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
    push(e, false, 0);
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

static void step(struct eval *e, Dwarf_Op *op)
{
    unsigned atom = op->atom;
    struct value value;

    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        push(e, true, atom - DW_OP_lit0);
        return;
    }
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        describe(e, SOURCE_REGISTER, (uint16_t)(atom - DW_OP_reg0), 0);
        return;
    }
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        push_reg(e, atom - DW_OP_breg0, op->number);
        return;
    }
    switch (atom) {
    case DW_OP_nop:
        break;
    case DW_OP_addr:
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index:
        push_address(e, op);
        break;
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
        break;
    case DW_OP_regx:
        describe(e, SOURCE_REGISTER, (uint16_t)op->number, 0);
        break;
    case DW_OP_bregx:
        push_reg(e, (unsigned)op->number, op->number2);
        break;
    case DW_OP_fbreg:
        value = frame_base(e);
        push(e, value.known, value.v + op->number);
        break;
    case DW_OP_call_frame_cfa:
        push(e, e->view->frame && e->view->frame->cfa, e->view->frame ? e->view->frame->cfa : 0);
        break;
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address:
        value = pop(e);
        value.known &= source_place_tls(e->view->m, e->view->here, e->view->frame) != 0;
        push(e, value.known, value.v + source_place_tls(e->view->m, e->view->here, e->view->frame));
        break;
    case DW_OP_plus_uconst:
        value = pop(e);
        push(e, value.known, value.v + op->number);
        break;
    case DW_OP_neg:
        value = pop(e);
        push(e, value.known, -value.v);
        break;
    case DW_OP_not:
        value = pop(e);
        push(e, value.known, ~value.v);
        break;
    case DW_OP_abs:
        value = pop(e);
        push(e, value.known, (int64_t)value.v < 0 ? -value.v : value.v);
        break;
    case DW_OP_dup:
    case DW_OP_over:
    case DW_OP_drop:
    case DW_OP_swap:
    case DW_OP_rot:
    case DW_OP_pick:
        shuffle(e, atom, op->number);
        break;
    case DW_OP_deref:
        deref(e, BYTES_DEREF);
        break;
    case DW_OP_deref_size:
    case DW_OP_deref_type:
    case DW_OP_GNU_deref_type:
        deref(e, (unsigned)op->number);
        break;
    case DW_OP_convert:
    case DW_OP_reinterpret:
    case DW_OP_GNU_convert:
    case DW_OP_GNU_reinterpret:
        break; /* the value is made from the same */
    case DW_OP_regval_type:
    case DW_OP_GNU_regval_type:
        push_reg(e, (unsigned)op->number, 0);
        break;
    case DW_OP_const_type:
    case DW_OP_GNU_const_type:
        push(e, false, 0);
        break;
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        push_entry_value(e, op);
        break;
    case DW_OP_implicit_value:
        implicit_value(e, op);
        break;
    case DW_OP_implicit_pointer:
    case DW_OP_GNU_implicit_pointer:
        describe(e, SOURCE_NOWHERE, 0, 0);
        break;
    case DW_OP_stack_value:
        e->stack_value = true;
        break;
    default:
        binary(e, atom);
        break;
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
        } else {
            step(e, &op[i]);
        }
    }
}

static bool constant_value(Dwarf_Die *die, struct source_place *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword number;
    Dwarf_Block block;
    uint64_t value = 0;

    if (!dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
        return false;
    if (!dwarf_formsdata(&attribute, &number))
        value = (uint64_t)number;
    else if (!dwarf_formblock(&attribute, &block))
        memcpy(&value, block.data, block.length < sizeof value ? block.length : sizeof value);
    out->piece[0] = (struct source_piece){
        .where = SOURCE_CONSTANT, .value = value, .bytes = (uint32_t)out->bytes};
    out->pieces = 1;
    return true;
}

int source_place_find(const struct source_view *view, const struct source_var *var,
                      struct source_place *out, struct err *err)
{
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;
    uint64_t addr = view->m == view->here ? view->addr : 0;

    memset(out, 0, sizeof *out);
    out->local = var->scope != SOURCE_NONE;
    if (!dwarf_offdie(view->m->dwarf, var->die, &die))
        return err_set_code(err, SOURCE_OPTIMIZED, "its debug information cannot be read");
    out->bytes = source_type_bytes(&die);
    if (!dwarf_attr(&die, DW_AT_location, &attribute)) {
        if (constant_value(&die, out))
            return 0;
        return err_set_code(err, SOURCE_OPTIMIZED, "it was optimized out");
    }
    if (dwarf_getlocation_addr(&attribute, addr, &op, &count, 1) != 1 || !count)
        return err_set_code(err, SOURCE_OPTIMIZED, "it has no place here: optimized out");
    struct eval e = {.view = view, .attribute = &attribute, .var = var, .out = out};
    run(&e, op, count);
    if (!e.failed && (!out->pieces || e.finished || e.depth))
        end_piece(&e, (uint32_t)out->bytes, 0);
    if (e.failed)
        return err_set_code(err, SOURCE_UNKNOWN_PLACE,
                            "its place depends on registers or memory that are not known");
    for (uint32_t i = 0; i < out->pieces; i++)
        if (out->piece[i].where != SOURCE_NOWHERE)
            return 0;
    return err_set_code(err, SOURCE_OPTIMIZED, "it was optimized out");
}

bool source_place_is_register(const struct source_view *view, const struct source_var *var,
                              unsigned reg)
{
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_offdie(view->m->dwarf, var->die, &die) ||
        !dwarf_attr(&die, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, view->addr, &op, &count, 1) != 1)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((op[i].atom >= DW_OP_reg0 && op[i].atom <= DW_OP_reg31 &&
             (unsigned)(op[i].atom - DW_OP_reg0) == reg) ||
            (op[i].atom == DW_OP_regx && op[i].number == reg))
            return true;
    return false;
}
