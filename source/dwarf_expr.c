/* dwarf_expr.c - evaluates location expressions, mostly without registers and memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * DWARF 5, sections 2.5 and 2.6. Values on the stack are terms: numbers, unknown, or formulas if
 * the frame has somewhere to keep them. For values that are computed, the evaluation notes what the
 * expression reads. A value made from an unknown one is unknown. rbp and rsp are known if the CFA
 * is, and is their sum with a number at this pc.
 */
#include <dwarf.h>
#include <string.h>

#include "debug/bytecode.h"
#include "source/frame.h"
#include "source/place.h"

enum {
    STACK = 32,
    NESTED = 4,
    BYTES_DEREF = 8,
    RETURN_ADDRESS = 16,
    VECTOR_0 = 17,
    VECTORS = 16,
};

/* What the bits of a value are: an address's, unless the expression says otherwise. */
struct kind {
    enum { GENERIC, SIGNED, UNSIGNED, FLOATING } class;
    unsigned bits;
};

struct value {
    struct term t; /* extended to 64 bits by its kind; of what is floating a double */
    struct kind kind;
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
    Dwarf_Block constant; /* what `piece` has, if that is more than a number */
};

static const struct kind generic = {GENERIC, 64};

static struct terms *terms_of(const struct source_view *view)
{
    return view->frame ? view->frame->terms : NULL;
}

static void push_value(struct eval *e, struct value value)
{
    if (e->depth == STACK)
        e->failed = true;
    else
        e->stack[e->depth++] = value;
}

static void push(struct eval *e, struct term t)
{
    push_value(e, (struct value){t, generic});
}

static struct value pop(struct eval *e)
{
    if (!e->depth) {
        e->failed = true;
        return (struct value){.kind = generic};
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

/* ---- registers, frames, memory ---- */

struct term source_expr_register(const struct source_view *view, unsigned reg)
{
    static const uint8_t agent[] = {AGENT_RAX, AGENT_RDX, AGENT_RCX, AGENT_RBX,
                                    AGENT_RSI, AGENT_RDI, AGENT_RBP, AGENT_RSP};
    const struct source_frame *frame = view->frame;
    struct source_cfa cfa;

    if (frame && frame->unwound)
        return reg < RETURN_ADDRESS ? frame->unwound[reg] : (struct term){0};
    if (frame && frame->reg && reg <= RETURN_ADDRESS)
        return term_number(frame->reg[reg]);
    if (view->here && frame && frame->cfa &&
        source_cfa(view->s, view->addr + view->here->bias, &cfa) && cfa.reg == reg)
        return term_number(frame->cfa - (uint64_t)cfa.offset);
    if (reg >= VECTOR_0 && reg < VECTOR_0 + VECTORS)
        return term_vector(terms_of(view), AGENT_XMM0 + reg - VECTOR_0, 0, sizeof(uint64_t));
    if (reg == RETURN_ADDRESS)
        return term_register(terms_of(view), AGENT_RIP);
    return reg < RETURN_ADDRESS
               ? term_register(terms_of(view), reg < sizeof agent ? agent[reg] : reg)
               : (struct term){0};
}

struct term source_expr_cfa(const struct source_view *view)
{
    const struct source_frame *frame = view->frame;
    struct source_cfa cfa;

    if (frame && frame->cfa)
        return term_number(frame->cfa);
    if (!frame || (!frame->terms && !frame->reg) || !view->here ||
        !source_cfa(view->s, view->addr + view->here->bias, &cfa))
        return (struct term){0};
    return term_op(frame->terms, TERM_ADD, source_expr_register(view, cfa.reg),
                   term_number((uint64_t)cfa.offset));
}

static struct term push_reg(struct eval *e, unsigned reg)
{
    struct source_read read;

    memset(&read, 0, sizeof read); /* they are compared as bytes */
    read.reg = (uint16_t)reg;
    read.bytes = 8;
    note_read(e, &read);
    return source_expr_register(e->view, reg);
}

static void push_sum(struct eval *e, struct term t, uint64_t n)
{
    push(e, term_op(terms_of(e->view), TERM_ADD, t, term_number(n)));
}

static void run(struct eval *e, Dwarf_Op *op, size_t count);

/* The base that DW_OP_fbreg adds to: the value of a register, or what an expression gives. */
static struct term frame_base(struct eval *e)
{
    struct source_mod *m = e->view->here;
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    Dwarf_Op *op;
    size_t count;

    if (!m || e->nested >= NESTED)
        return (struct term){0};
    int32_t function = source_scopes_function(m, source_scopes_at(m, e->view->addr));
    if (function == SOURCE_NONE ||
        !source_scopes_die(m, m->scope[function].unit, m->scope[function].die, &die) ||
        !dwarf_attr_integrate(&die, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, e->view->addr, &op, &count, 1) != 1 || !count)
        return (struct term){0};
    if (count == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return source_expr_register(e->view, op->atom - DW_OP_reg0);
    struct source_place unused = {0};
    struct eval inner = {
        .view = e->view, .attribute = &attribute, .out = &unused, .nested = e->nested + 1};
    run(&inner, op, count);
    struct value value = inner.failed || inner.finished ? (struct value){0} : pop(&inner);
    return inner.failed ? (struct term){0} : value.t;
}

static struct term deref(struct eval *e, unsigned bytes)
{
    struct term address = pop(e).t;
    const struct source_frame *frame = e->view->frame;
    struct source_read read;
    uint64_t v = 0;

    memset(&read, 0, sizeof read);
    read.memory = true;
    read.known = term_is_number(address);
    read.address = read.known ? address.v : 0;
    read.bytes = (uint16_t)bytes;
    note_read(e, &read);
    if (read.known && frame && frame->memory && bytes <= sizeof v)
        return frame->memory(frame->arg, address.v, &v, bytes) == bytes ? term_number(v)
                                                                        : (struct term){0};
    return term_ref(terms_of(e->view), address, bytes);
}

/* ---- kinds ---- */

/* The kind that an operation names; the generic one for 0. False: it is not understood. */
static bool kind_of(struct eval *e, Dwarf_Op *op, uint64_t offset, struct kind *out)
{
    Dwarf_Die die;
    uint64_t encoding, bytes;

    *out = generic;
    if (!offset)
        return true;
    if (!e->attribute || dwarf_getlocation_die(e->attribute, op, &die) ||
        !source_type_number(&die, DW_AT_encoding, &encoding) ||
        !source_type_number(&die, DW_AT_byte_size, &bytes) || !bytes || bytes > 8)
        return false;
    out->bits = (unsigned)(8 * bytes);
    out->class = encoding == DW_ATE_float                                      ? FLOATING
                 : encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? SIGNED
                                                                               : UNSIGNED;
    return out->class != FLOATING || bytes >= 4;
}

/* The bits of a value of that kind, as they lie in memory, become one. */
static struct value value_of_bits(struct eval *e, struct term t, struct kind kind)
{
    struct terms *terms = terms_of(e->view);

    if (kind.class == FLOATING && kind.bits == 32)
        t = term_op(terms, TERM_F_OF_SINGLE, t, t);
    else if (kind.class != FLOATING)
        t = term_extend(terms, t, kind.bits, kind.class == SIGNED);
    return (struct value){t, kind};
}

static struct term bits_of_value(struct eval *e, struct value value)
{
    if (value.kind.class == FLOATING && value.kind.bits == 32)
        return term_op(terms_of(e->view), TERM_F_TO_SINGLE, value.t, value.t);
    return value.t;
}

/* A value of that kind which was calculated with 64 bits. */
static struct value rounded(struct eval *e, struct term t, struct kind kind)
{
    if (kind.class == FLOATING && kind.bits == 32)
        t = bits_of_value(e, (struct value){t, kind});
    return value_of_bits(e, t, kind);
}

static void convert(struct eval *e, Dwarf_Op *op)
{
    struct value value = pop(e);
    struct kind kind;
    bool from = value.kind.class == FLOATING;

    if (!kind_of(e, op, op->number, &kind)) {
        push(e, (struct term){0});
        return;
    }
    bool to = kind.class == FLOATING;
    if (op->atom == DW_OP_reinterpret || op->atom == DW_OP_GNU_reinterpret) {
        push_value(e, value_of_bits(e, bits_of_value(e, value), kind));
        return;
    }
    enum term_op how = from ? (kind.class == SIGNED ? TERM_F_TO_SIGNED : TERM_F_TO_UNSIGNED)
                            : (value.kind.class == SIGNED ? TERM_F_OF_SIGNED : TERM_F_OF_UNSIGNED);
    if (from != to)
        value.t = term_op(terms_of(e->view), how, value.t, value.t);
    push_value(e, rounded(e, value.t, kind));
}

/* ---- operations on the two topmost values ---- */

/* `of` is for each class of kinds; TERM_FAIL: there is none. Generic values are compared and
 * divided as signed ones; their remainder is that of unsigned ones. */
static const struct operation {
    uint8_t atom;
    uint8_t of[4];
    bool swapped, negated;
} operations[] = {
    {DW_OP_plus, {TERM_ADD, TERM_ADD, TERM_ADD, TERM_F_ADD}, 0, 0},
    {DW_OP_minus, {TERM_SUB, TERM_SUB, TERM_SUB, TERM_F_SUB}, 0, 0},
    {DW_OP_mul, {TERM_MUL, TERM_MUL, TERM_MUL, TERM_F_MUL}, 0, 0},
    {DW_OP_div, {TERM_DIV_SIGNED, TERM_DIV_SIGNED, TERM_DIV_UNSIGNED, TERM_F_DIV}, 0, 0},
    {DW_OP_mod, {TERM_REM_UNSIGNED, TERM_REM_SIGNED, TERM_REM_UNSIGNED, TERM_FAIL}, 0, 0},
    {DW_OP_and, {TERM_BIT_AND, TERM_BIT_AND, TERM_BIT_AND, TERM_FAIL}, 0, 0},
    {DW_OP_or, {TERM_BIT_OR, TERM_BIT_OR, TERM_BIT_OR, TERM_FAIL}, 0, 0},
    {DW_OP_xor, {TERM_BIT_XOR, TERM_BIT_XOR, TERM_BIT_XOR, TERM_FAIL}, 0, 0},
    {DW_OP_shl, {TERM_LSH, TERM_LSH, TERM_LSH, TERM_FAIL}, 0, 0},
    {DW_OP_shr, {TERM_RSH_UNSIGNED, TERM_RSH_UNSIGNED, TERM_RSH_UNSIGNED, TERM_FAIL}, 0, 0},
    {DW_OP_shra, {TERM_RSH_SIGNED, TERM_RSH_SIGNED, TERM_RSH_SIGNED, TERM_FAIL}, 0, 0},
    {DW_OP_eq, {TERM_EQUAL, TERM_EQUAL, TERM_EQUAL, TERM_F_EQUAL}, 0, 0},
    {DW_OP_ne, {TERM_EQUAL, TERM_EQUAL, TERM_EQUAL, TERM_F_EQUAL}, 0, 1},
    {DW_OP_lt, {TERM_LESS_SIGNED, TERM_LESS_SIGNED, TERM_LESS_UNSIGNED, TERM_F_LESS}, 0, 0},
    {DW_OP_gt, {TERM_LESS_SIGNED, TERM_LESS_SIGNED, TERM_LESS_UNSIGNED, TERM_F_LESS}, 1, 0},
    {DW_OP_le, {TERM_LESS_SIGNED, TERM_LESS_SIGNED, TERM_LESS_UNSIGNED, TERM_FAIL}, 1, 1},
    {DW_OP_ge, {TERM_LESS_SIGNED, TERM_LESS_SIGNED, TERM_LESS_UNSIGNED, TERM_FAIL}, 0, 1},
};

static void binary(struct eval *e, unsigned atom)
{
    struct terms *terms = terms_of(e->view);
    const struct operation *op = NULL;
    struct value b = pop(e), a = pop(e);

    for (size_t i = 0; i < sizeof operations / sizeof *operations && !op; i++)
        op = operations[i].atom == atom ? &operations[i] : NULL;
    if (!op || op->of[a.kind.class] == TERM_FAIL ||
        (a.kind.class == FLOATING) != (b.kind.class == FLOATING)) {
        e->failed = true;
        return;
    }
    bool compares = atom >= DW_OP_eq && atom <= DW_OP_ne;
    if (atom == DW_OP_shr) /* of the bits, whatever their sign */
        a.t = term_extend(terms, a.t, a.kind.bits, false);
    struct term t =
        term_op(terms, op->of[a.kind.class], op->swapped ? b.t : a.t, op->swapped ? a.t : b.t);
    if (op->negated)
        t = term_op(terms, TERM_NOT, t, t);
    push_value(e, compares ? (struct value){t, generic} : rounded(e, t, a.kind));
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
        push_value(e, a);
        push_value(e, b);
        return true;
    case DW_OP_rot:
        a = pop(e), b = pop(e), c = pop(e);
        push_value(e, a);
        push_value(e, c);
        push_value(e, b);
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
        push_value(e, e->stack[e->depth - 1 - index]);
    else
        e->failed = true;
    return true;
}

static void push_address(struct eval *e, Dwarf_Op *op)
{
    Dwarf_Attribute result;
    Dwarf_Addr addr;

    if (op->atom == DW_OP_addr)
        push(e, term_number(op->number + e->view->m->bias));
    else if (e->attribute && !dwarf_getlocation_attr(e->attribute, op, &result) &&
             !dwarf_formaddr(&result, &addr))
        push(e, term_number(addr + (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index
                                        ? e->view->m->bias
                                        : 0)));
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
    if (entry && read.reg < RETURN_ADDRESS)
        push(e, term_number(entry[read.reg]));
    else
        push(e, source_entry_value(e->view, read.reg, NULL));
}

/* What the caller would have passed for a parameter that the compiler has removed. */
static void push_parameter(struct eval *e, Dwarf_Op *op)
{
    Dwarf_Die die;

    if (e->attribute && !dwarf_getlocation_die(e->attribute, op, &die))
        push(e, source_entry_value(e->view, 0, &die));
    else
        e->failed = true;
}

/* A number that the expression has, of a kind. */
static void push_typed_number(struct eval *e, Dwarf_Op *op)
{
    Dwarf_Attribute result;
    Dwarf_Block block;
    struct kind kind;
    uint64_t v = 0;

    if (!kind_of(e, op, op->number, &kind) || dwarf_getlocation_attr(e->attribute, op, &result) ||
        dwarf_formblock(&result, &block) || block.length > sizeof v) {
        push(e, (struct term){0});
        return;
    }
    memcpy(&v, block.data, block.length);
    push_value(e, value_of_bits(e, term_number(v), kind));
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
    e->constant = block.length > sizeof value ? block : (Dwarf_Block){0};
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
        top.t = bits_of_value(e, top);
        bool known = term_is_number(top.t);
        piece = (struct source_piece){.where = SOURCE_MEMORY, .address = top.t.v};
        e->failed |= top.t.kind == TERM_UNKNOWN && (!e->stack_value || terms_of(e->view));
        if (e->stack_value) {
            piece.where = out->reads == reads_before && known ? SOURCE_CONSTANT : SOURCE_COMPUTED;
            piece.address = 0;
            piece.value = top.t.v;
            piece.known = known;
        }
        piece.term = top.t;
    }
    if (piece.where != SOURCE_COMPUTED)
        out->reads = reads_before;
    piece.bytes = bytes;
    if (piece.where == SOURCE_CONSTANT && e->constant.length)
        e->failed |= !source_place_constant(out, e->constant.data, e->constant.length, bytes);
    else if (out->pieces < SOURCE_PIECES)
        out->piece[out->pieces++] = piece;
    else
        e->failed = true;
    e->constant = (Dwarf_Block){0};
    e->finished = e->stack_value = false;
    e->depth = 0;
}

/* Operations that push a number. */
static bool step_number(struct eval *e, Dwarf_Op *op)
{
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        push(e, term_number(op->atom - DW_OP_lit0));
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
        push(e, term_number(op->number));
        return true;
    case DW_OP_const_type:
    case DW_OP_GNU_const_type:
        push_typed_number(e, op);
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
    struct kind kind;

    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        push_sum(e, push_reg(e, op->atom - DW_OP_breg0), op->number);
        return true;
    }
    switch (op->atom) {
    case DW_OP_bregx:
        push_sum(e, push_reg(e, (unsigned)op->number), op->number2);
        return true;
    case DW_OP_regval_type:
    case DW_OP_GNU_regval_type: {
        struct term t = push_reg(e, (unsigned)op->number);
        if (kind_of(e, op, op->number2, &kind))
            push_value(e, value_of_bits(e, t, kind));
        else
            push(e, (struct term){0});
        return true;
    }
    case DW_OP_fbreg:
        push_sum(e, frame_base(e), op->number);
        return true;
    case DW_OP_call_frame_cfa:
        push(e, source_expr_cfa(e->view));
        return true;
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address: {
        struct term offset = pop(e).t;
        push(e, term_op(terms_of(e->view), TERM_ADD, source_place_tls_base(e->view), offset));
        return true;
    }
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        push_entry_value(e, op);
        return true;
    case DW_OP_GNU_parameter_ref:
        push_parameter(e, op);
        return true;
    default:
        return false;
    }
}

/* -x, ~x, |x|, x + n */
static void unary(struct eval *e, Dwarf_Op *op)
{
    struct terms *terms = terms_of(e->view);
    struct value value = pop(e);
    struct term zero = term_number(0), t = value.t;

    if (value.kind.class == FLOATING) {
        e->failed = true;
        return;
    }
    struct term minus = term_op(terms, TERM_SUB, zero, t);
    switch (op->atom) {
    case DW_OP_plus_uconst:
        t = term_op(terms, TERM_ADD, t, term_number(op->number));
        break;
    case DW_OP_not:
        t = term_op(terms, TERM_BIT_NOT, t, t);
        break;
    case DW_OP_neg:
        t = minus;
        break;
    default: /* abs */
        t = term_choice(terms, term_op(terms, TERM_LESS_SIGNED, t, zero), minus, t);
    }
    push_value(e, rounded(e, t, value.kind));
}

/* Operations on the top of the stack. */
static bool step_top(struct eval *e, Dwarf_Op *op)
{
    struct kind kind;

    switch (op->atom) {
    case DW_OP_deref:
        push(e, deref(e, BYTES_DEREF));
        return true;
    case DW_OP_deref_size:
        push(e, deref(e, (unsigned)op->number));
        return true;
    case DW_OP_deref_type:
    case DW_OP_GNU_deref_type: {
        struct term t = deref(e, (unsigned)op->number);
        if (kind_of(e, op, op->number2, &kind))
            push_value(e, value_of_bits(e, t, kind));
        else
            push(e, (struct term){0});
        return true;
    }
    case DW_OP_nop:
        return true;
    case DW_OP_convert:
    case DW_OP_reinterpret:
    case DW_OP_GNU_convert:
    case DW_OP_GNU_reinterpret:
        convert(e, op);
        return true;
    case DW_OP_plus_uconst:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_abs:
        unary(e, op);
        return true;
    default:
        return false;
    }
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
