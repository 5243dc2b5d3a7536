/* compile.c - C and C++ expressions as bytecode that takes their values.
 *
 * SPDX-License-Identifier: MIT
 *
 * A value is made of parts: memory, which is taken as it is, and terms of up to 8 bytes. What is
 * taken has a fixed order, the same for the code here and for its reader (compile_row.c):
 *
 * 1. The condition comes first, if the bytecode cannot decide it; then each expression.
 * 2. An expression has its parts, then what these lead to: strings, static members.
 * 3. A part that is memory is one piece. A term has a piece for each of its parts that the bytecode
 *    can compute; behind && || ?: only for those that are reached.
 * 4. Before memory is read for an address, an empty piece of memory says where that is.
 * 5. Where an expression fails, a piece says so, and the next expression follows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/compile_int.h"

enum { WANTS_MOST = 256, CODE_KEPT = 128 /* bytes that strings leave for the rest */ };

struct compiled *compile_new(struct source *s, gaddr pc, struct err *err)
{
    struct compiled *c = calloc(1, sizeof *c);
    if (!c) {
        err_set(err, "no memory");
        return NULL;
    }
    c->source = s;
    c->pc = pc;
    c->scene = (struct expression_scene){
        .source = s, .pc = pc, .frame = {.scope = pc, .terms = &c->terms}};
    return c;
}

void compile_outside(struct compiled *c, uint32_t inlined)
{
    c->scene.frame.inlined = inlined;
}

void compile_free(struct compiled *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->items; i++) {
        free(c->item[i].part);
        free(c->item[i].bytes);
        free(c->item[i].missing);
        free(c->item[i].text);
    }
    terms_deinit(&c->terms);
    free(c);
}

/* ---- terms ---- */

static bool write_inputs(struct compiled *c, struct term x);

/* a && b, a || b, a ? b : c: what is behind a is guarded by it, if the bytecode can compute a. */
static bool write_branch_inputs(struct compiled *c, const struct term_node *node)
{
    struct bytecode *b = &c->take;
    struct term yes = node->b, no = node->c;
    if (node->op == TERM_OR) {
        yes = (struct term){0};
        no = node->b;
    }
    if (!write_inputs(c, node->a))
        return false;
    if (term_is_floating(&c->terms, node->a))
        return (!yes.kind || write_inputs(c, yes)) && (!no.kind || write_inputs(c, no));
    if (!bytecode_term(b, &c->terms, node->a, false))
        return false;
    uint32_t taken = bytecode_jump(b, OP_IF_GOTO);
    if (no.kind && !write_inputs(c, no))
        return false;
    uint32_t over = bytecode_jump(b, OP_GOTO);
    bytecode_land(b, taken);
    if (yes.kind && !write_inputs(c, yes))
        return false;
    bytecode_land(b, over);
    return true;
}

/* What the reader needs to know for the term's value. */
static bool write_inputs(struct compiled *c, struct term x)
{
    const struct term_node *node = term_node(&c->terms, x);
    if (x.kind == TERM_UNKNOWN)
        return false;
    if (!node || c->take.full)
        return true;
    if (!node->floating) {
        if (!bytecode_term(&c->take, &c->terms, x, true))
            return false;
        bytecode_take_value(&c->take);
        return true;
    }
    if (node->op == TERM_VECTOR) {
        bytecode_take_register(&c->take, node->reg);
        return true;
    }
    if (node->op == TERM_AND || node->op == TERM_OR || node->op == TERM_CHOICE)
        return write_branch_inputs(c, node);
    return write_inputs(c, node->a) && write_inputs(c, node->b);
}

/* ---- parts ---- */

static int add_part(struct operand_reader *r, struct item *item, struct part part)
{
    return array_append(&item->part, &item->parts, part) ? err_set(r->err, "no memory") : 0;
}

/* The parts of the value that a piece of its place has. */
static int add_piece(struct operand_reader *r, const struct operand *o,
                     const struct source_piece *piece, uint64_t from, uint64_t to, uint64_t at,
                     void *arg)
{
    struct item *item = arg;
    struct terms *terms = r->scene->frame.terms;
    (void)o;
    if (at >= item->n)
        return 0;
    if (to - from > item->n - at)
        to = from + item->n - at;
    if (piece->where == SOURCE_NOWHERE)
        return add_part(r, item,
                        (struct part){PART_GONE, (uint32_t)at, (uint32_t)(to - from), {0}});
    if (piece->where == SOURCE_MEMORY) {
        struct term t =
            piece->term.kind == TERM_FORMULA ? piece->term : term_number(piece->address);
        t = term_op(terms, TERM_ADD, t, term_number(from));
        return add_part(r, item,
                        (struct part){PART_MEMORY, (uint32_t)at, (uint32_t)(to - from), t});
    }
    for (uint64_t n; from < to; from += n, at += n) {
        n = to - from < sizeof(uint64_t) ? to - from : sizeof(uint64_t);
        struct term t = operand_piece_term(r, piece, from, from + n);
        enum part_kind kind = t.kind == TERM_UNKNOWN ? PART_GONE : PART_TERM;
        if (add_part(r, item, (struct part){kind, (uint32_t)at, (uint32_t)n, t}))
            return -1;
    }
    return 0;
}

/* What was calculated is one part. */
static int add_number(struct operand_reader *r, struct item *item, const struct operand *o)
{
    struct term t = o->n.t;
    uint64_t bytes = operand_bytes(r, o);
    if (o->n.floating && bytes == sizeof(float))
        t = term_op(r->scene->frame.terms, TERM_F_TO_SINGLE, t, t);
    if (o->n.floating && bytes > sizeof(double)) { /* of a long double only a double is known */
        item->type = source_types_plain(TYPE_FLOAT, sizeof(double));
        bytes = sizeof(double);
    }
    item->n = bytes;
    return add_part(r, item, (struct part){PART_TERM, 0, (uint32_t)bytes, t});
}

static int add_parts(struct operand_reader *r, struct item *item, struct operand *o)
{
    if (o->placed && (o->bits || o->in_register) && operand_fetch(r, o, OPERAND_VALUE))
        return -1;
    item->type = o->type;
    item->referred = o->placed && o->referred;
    item->reference = o->reference;
    if (!o->placed)
        return add_number(r, item, o);
    uint64_t bytes = operand_bytes(r, o);
    if (source_types_class(&o->type) == TYPE_NONE)
        return err_set_code(r->err, EXPRESSION_BAD,
                            "its type is not known; a cast says what it is: *(int *) &x");
    if (!bytes)
        return err_set_code(r->err, EXPRESSION_BAD, "its size is not known");
    item->n = bytes < COMPILE_BYTES ? bytes : COMPILE_BYTES;
    return operand_pieces(r, o, add_piece, item);
}

static int write_parts(struct compiled *c, const struct item *item)
{
    for (size_t i = 0; i < item->parts; i++) {
        const struct part *p = &item->part[i];
        bool ok = true;
        if (p->kind == PART_MEMORY) {
            ok = bytecode_term(&c->take, &c->terms, p->t, true);
            bytecode_take(&c->take, p->bytes);
        } else if (p->kind == PART_TERM) {
            ok = write_inputs(c, p->t);
        }
        if (!ok)
            return -1;
    }
    return 0;
}

/* ---- what it leads to ---- */

struct leads {
    struct compiled *c;
    struct operand_reader *r;
    struct item *item;
    const struct operand *o;
};

/* The word at an offset of the value. */
static bool word_at(const struct leads *l, uint64_t offset, struct term *out)
{
    struct operand o = *l->o;
    if (o.placed) {
        o.offset += offset;
        o.type = source_types_plain(TYPE_UNSIGNED, sizeof(uint64_t));
        if (operand_fetch(l->r, &o, OPERAND_VALUE))
            return false;
    }
    *out = o.n.t;
    return true;
}

static bool static_at(const struct leads *l, const char *name, struct term *out)
{
    struct source_place place;
    struct err unused;
    if (source_variable_at(l->c->source, l->c->pc, NULL, name, &place, &unused) ||
        place.pieces != 1 || place.piece[0].where != SOURCE_MEMORY)
        return false;
    *out = term_number(place.piece[0].address);
    return true;
}

static int write_lead(void *arg, enum render_want kind, uint64_t offset,
                      const struct source_type *type, const char *name)
{
    struct leads *l = arg;
    struct bytecode *b = &l->c->take;
    struct operand o = *l->o;
    struct term t;
    uint64_t bytes = source_types_bytes(type, NULL);
    bool text = kind == RENDER_STRING || kind == RENDER_TEXT, found;
    if (l->item->leads == WANTS_MOST || b->bytes + CODE_KEPT > sizeof b->code)
        return 1;
    if (kind == RENDER_STATIC) {
        found = static_at(l, name, &t);
    } else if (kind == RENDER_TEXT) {
        o.offset += offset;
        found = !operand_address(l->r, &o);
        t = o.n.t;
    } else {
        found = word_at(l, offset, &t);
    }
    if (!found || (!text && (!bytes || bytes > COMPILE_BYTES)) || t.kind == TERM_UNKNOWN ||
        term_is_floating(&l->c->terms, t))
        return 0;
    uint32_t before = b->bytes;
    bytecode_term(b, &l->c->terms, t, false);
    if (b->bytes + CODE_KEPT > sizeof b->code) { /* the value itself matters more */
        b->bytes = before;
        b->full = false;
        return 1;
    }
    if (text)
        bytecode_take_string(b, COMPILE_STRING);
    else
        bytecode_take(b, (uint32_t)bytes);
    l->item->leads++;
    return 0;
}

static void write_leads(struct compiled *c, struct operand_reader *r, struct item *item,
                        const struct operand *o)
{
    struct render render = {.source = c->source, .pc = c->pc};
    struct leads l = {c, r, item, o};
    render_wants(&render, &item->type, item->n, write_lead, &l);
}

/* ---- expressions ---- */

/* The message in place of a value; what is known to be gone has GDB's words. */
static void give_up(struct item *item, const char *expression, const struct err *err)
{
    size_t n = strlen(expression);
    const char *why = err->msg;
    if (strncmp(why, expression, n) == 0 && strncmp(why + n, ": ", 2) == 0)
        why += n + 2;
    item->problem = err->code ? err->code : EXPRESSION_BAD;
    if (err->code == SOURCE_OPTIMIZED)
        snprintf(item->why, sizeof item->why, "<optimized out>");
    else
        snprintf(item->why, sizeof item->why, "<%s>", why);
}

/* What a value is of: an expression, or where a function's result is. */
struct subject {
    const char *text;
    const struct functions_returned *returned; /* NULL: the text says it */
};

/* What is optimized out ends the reading of an expression. What is wrong with it behind that, or
 * anywhere, counts for more: no other place will know a value of it. */
static void look_behind(struct operand_reader *r, const char *text)
{
    struct err err;
    struct operand unused;
    struct operand_reader muted = *r;
    muted.err = &err;
    muted.muted = 1;
    if (r->err->code == SOURCE_OPTIMIZED && expression_parse(&muted, text, &unused) &&
        err.code != SOURCE_OPTIMIZED && err.code != SOURCE_UNKNOWN_PLACE)
        *r->err = err;
}

static int find_operand(struct operand_reader *r, const struct subject *of, struct operand *out)
{
    if (!of->returned) {
        int bad = expression_parse(r, of->text, out);
        if (bad)
            look_behind(r, of->text);
        return bad;
    }
    if (operand_at(r, &of->returned->place, out))
        return -1;
    return of->returned->led ? operand_deref(r, out) : 0;
}

static int write_item(struct compiled *c, struct item *item, const struct subject *of,
                      struct err *err)
{
    struct operand_reader r = {.scene = &c->scene, .err = err};
    struct operand o;
    if (find_operand(&r, of, &o) || add_parts(&r, item, &o))
        return -1;
    uint32_t ends = bytecode_jump(&c->take, OP_TRY);
    if (write_parts(c, item))
        return err_set_code(err, SOURCE_OPTIMIZED, "its value is not known here");
    write_leads(c, &r, item, &o);
    bytecode_land(&c->take, ends);
    if (c->take.full || c->terms.full)
        return err_set_code(err, EXPRESSION_BAD, "it is too long");
    item->bytes = calloc(1, item->n + 1);
    item->missing = calloc(item->n + 1, sizeof *item->missing);
    return item->bytes && item->missing ? 0 : err_set(err, "no memory");
}

static int add_item(struct compiled *c, const struct subject *of, struct err *err)
{
    struct err why = {.code = 0};
    if (c->items == COMPILE_EXPRESSIONS)
        return err_set(err, "more than %d expressions", COMPILE_EXPRESSIONS);
    struct item *item = &c->item[c->items];
    *item = (struct item){.text = calloc(1, COMPILE_TEXT)};
    if (!item->text)
        return err_set(err, "no memory");
    uint32_t before = c->take.bytes;
    if (write_item(c, item, of, &why)) {
        c->take.bytes = before;
        c->take.full = c->terms.full = false;
        give_up(item, of->text, &why);
        snprintf(item->text, COMPILE_TEXT, "%s", item->why);
    }
    return (int)c->items++;
}

int compile_add(struct compiled *c, const char *text, struct err *err)
{
    return add_item(c, &(struct subject){.text = text}, err);
}

int compile_add_result(struct compiled *c, const struct functions_returned *where, struct err *err)
{
    return add_item(c, &(struct subject){.text = "", .returned = where}, err);
}

int compile_problem(const struct compiled *c, unsigned number)
{
    return c->item[number].problem;
}

int compile_when(struct compiled *c, const char *text, struct err *err)
{
    struct operand_reader r = {.scene = &c->scene, .err = err};
    struct operand o;
    if (expression_parse(&r, text, &o) || operand_fetch(&r, &o, OPERAND_VALUE))
        return -1;
    c->truth = operand_truth(&r, &o);
    c->when.bytes = 0;
    if (term_is_floating(&c->terms, c->truth)) {
        c->reader_decides = true;
        uint32_t ends = bytecode_jump(&c->take, OP_TRY);
        if (!write_inputs(c, c->truth) || c->take.full)
            return err_set_code(err, EXPRESSION_BAD, "%s: it is too long", text);
        bytecode_land(&c->take, ends);
        return 0;
    }
    if (!bytecode_term(&c->when, &c->terms, c->truth, false))
        return err_set_code(err, SOURCE_OPTIMIZED, "%s: its value is not known here", text);
    bytecode_end(&c->when);
    return c->when.full ? err_set_code(err, EXPRESSION_BAD, "%s: it is too long", text) : 0;
}

const uint8_t *compile_take(struct compiled *c, uint32_t *bytes)
{
    if (!c->ended)
        bytecode_end(&c->take);
    c->ended = true;
    *bytes = c->take.bytes;
    return c->take.code;
}

const uint8_t *compile_condition(struct compiled *c, uint32_t *bytes)
{
    *bytes = c->when.bytes;
    return c->when.code;
}
