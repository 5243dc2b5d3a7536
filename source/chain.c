/* chain.c - an expression that is evaluated anew at each moment. SPDX-License-Identifier: MIT
 *
 * The compiled expression (compile.h) has its value as terms of memory alone; its links are what
 * the parser noted as read, with an address term each. The row's bytecode only has to bring the
 * memory that these terms need: the terms are evaluated here, from a row or from a replay.
 */
#include "source/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/compile_int.h"

struct link {
    gaddr addr;
    bool known;
};

struct chain {
    struct compiled *compiled;
    struct expression expression;
    struct link link[EXPRESSION_READS];
    char *text;
    chain_memory *memory;
    void *arg;
    const struct compile_piece *piece; /* of the row that is read */
    size_t pieces;
    bool whole;            /* the value is known */
    char why[COMPILE_WHY]; /* ... or why it is not */
};

/* ---- making ---- */

/* A register that the term is made from, or -1; -2: it is not known at all. */
static int register_in(const struct terms *t, struct term x)
{
    const struct term_node *node = term_node(t, x);
    if (!node)
        return x.kind == TERM_UNKNOWN ? -2 : -1;
    if (node->op == TERM_FAIL)
        return -2;
    if (node->op == TERM_REGISTER || node->op == TERM_VECTOR)
        return node->reg;
    const struct term *part[] = {&node->a, &node->b, &node->c};
    for (size_t i = 0; i < 3; i++) {
        int reg = part[i]->kind == TERM_FORMULA ? register_in(t, *part[i]) : -1;
        if (reg != -1)
            return reg;
    }
    return -1;
}

static int refuse_register(int reg, const char *text, struct err *err)
{
    if (reg == -1)
        return 0;
    if (reg == AGENT_FS_BASE)
        return err_set_code(err, CHAIN_THREAD, "%s: it is of a thread that is not known", text);
    return err_set_code(err, SOURCE_UNKNOWN_PLACE,
                        "%s: a part of it is in a register there, and cannot be followed", text);
}

/* Everything has to follow from memory. */
static int check(const struct chain *c, const char *text, struct err *err)
{
    const struct item *item = &c->compiled->item[0];
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->expression.reads; i++) {
        const struct expression_read *r = &c->expression.read[i];
        int reg = r->memory ? register_in(&c->compiled->terms, r->at) : -2;
        if (refuse_register(reg, text, err))
            return -1;
        bytes += r->bytes;
    }
    for (size_t i = 0; i < item->parts; i++) {
        const struct part *p = &item->part[i];
        if (p->kind == PART_GONE)
            return err_set_code(err, SOURCE_OPTIMIZED, "%s: a part of it is optimized out", text);
        if (refuse_register(register_in(&c->compiled->terms, p->t), text, err))
            return -1;
    }
    if (!c->expression.reads)
        return err_set_code(err, EXPRESSION_CONSTANT, "%s: it is a constant", text);
    if (bytes > COMPILE_BYTES)
        return err_set_code(err, EXPRESSION_BAD, "%s: it has more than %d bytes", text,
                            COMPILE_BYTES);
    return 0;
}

static void know_fixed(struct chain *c)
{
    for (size_t i = 0; i < c->expression.reads; i++)
        if (chain_is_fixed(c, i))
            c->link[i] = (struct link){c->expression.read[i].at.v, true};
}

/* Behind the code of the value: that of the links, each by itself. */
static int write_links(struct chain *c, const char *text, struct err *err)
{
    struct compiled *k = c->compiled;
    for (size_t i = 0; i < c->expression.reads; i++) {
        const struct expression_read *r = &c->expression.read[i];
        uint32_t ends = bytecode_jump(&k->take, OP_TRY);
        bool good = bytecode_term(&k->take, &k->terms, r->at, false);
        bytecode_take(&k->take, (uint32_t)r->bytes);
        bytecode_land(&k->take, ends);
        if (!good || k->take.full || k->terms.full)
            return err_set_code(err, EXPRESSION_BAD, "%s: it is too long", text);
    }
    return 0;
}

static int make(struct chain *c, const char *text, struct err *err)
{
    struct compiled *k = c->compiled;
    struct operand_reader reader = {
        .scene = &k->scene, .out = &c->expression, .all = true, .err = err};
    struct operand o;
    if (expression_parse(&reader, text, &o) || compile_add(k, text, err) < 0)
        return -1;
    if (compile_problem(k, 0))
        return err_set_code(err, compile_problem(k, 0), "%s: %s", text, compile_text(k, 0));
    if (check(c, text, err) || write_links(c, text, err))
        return -1;
    know_fixed(c);
    return 0;
}

struct chain *chain_new(struct source *s, gaddr pc, const struct source_frame *frame,
                        const char *text, struct err *err)
{
    struct chain *c = calloc(1, sizeof *c);
    if (!c || !(c->text = strdup(text))) {
        free(c);
        err_set(err, "no memory");
        return NULL;
    }
    c->compiled = compile_new(s, pc, err);
    if (c->compiled) {
        struct source_frame *f = &c->compiled->scene.frame;
        f->cfa = frame->cfa;
        f->fs_base = frame->fs_base;
        f->scope = frame->scope;
        f->inlined = frame->inlined;
    }
    if (!c->compiled || make(c, c->text, err)) {
        chain_free(c);
        return NULL;
    }
    return c;
}

void chain_free(struct chain *c)
{
    if (!c)
        return;
    compile_free(c->compiled);
    free(c->text);
    free(c);
}

const uint8_t *chain_take(struct chain *c, uint32_t *bytes)
{
    return compile_take(c->compiled, bytes);
}

/* ---- evaluating ---- */

static bool fail_at(struct chain *c, gaddr addr)
{
    snprintf(c->why, sizeof c->why, "<cannot access memory at 0x%" PRIx64 ">", addr);
    return false;
}

static bool read_bytes(struct chain *c, gaddr addr, void *out, size_t bytes)
{
    size_t n = c->memory(c->arg, addr, out, bytes);
    return n == bytes ? true : fail_at(c, n < bytes ? addr + n : addr);
}

static bool compute(struct chain *c, struct term x, uint64_t *v)
{
    const struct term_node *node = term_node(&c->compiled->terms, x);
    uint64_t a, b = 0;
    *v = x.v;
    if (!node)
        return true;
    if (!compute(c, node->a, &a))
        return false;
    if (node->op == TERM_REF) {
        *v = 0;
        return read_bytes(c, a, v, node->bytes);
    }
    if (node->op == TERM_CHOICE)
        return compute(c, a ? node->b : node->c, v);
    bool decided = (node->op == TERM_AND && !a) || (node->op == TERM_OR && a);
    if (!decided && node->b.kind != TERM_UNKNOWN && !compute(c, node->b, &b))
        return false;
    if (term_fold(node->op, node->bits, a, b, v))
        return true;
    snprintf(c->why, sizeof c->why, "<division by zero>");
    return false;
}

static bool read_part(struct chain *c, struct item *item, const struct part *p)
{
    uint64_t v;
    if (!compute(c, p->t, &v))
        return false;
    if (p->kind == PART_MEMORY)
        return read_bytes(c, v, item->bytes + p->at, p->bytes);
    memcpy(item->bytes + p->at, &v, p->bytes);
    return true;
}

void chain_read(struct chain *c, chain_memory *memory, void *arg)
{
    struct item *item = &c->compiled->item[0];
    c->memory = memory;
    c->arg = arg;
    for (size_t i = 0; i < c->expression.reads; i++)
        c->link[i].known = compute(c, c->expression.read[i].at, &c->link[i].addr);
    c->whole = true;
    c->why[0] = 0;
    for (size_t i = 0; i < item->parts && c->whole; i++)
        c->whole = read_part(c, item, &item->part[i]);
}

static size_t row_memory(void *arg, gaddr addr, void *out, size_t bytes)
{
    const struct chain *c = arg;
    return compile_memory(c->piece, c->pieces, addr, out, bytes);
}

void chain_read_row(struct chain *c, const struct compile_piece *piece, size_t n)
{
    c->piece = piece;
    c->pieces = n;
    chain_read(c, row_memory, c);
}

/* ---- what it was ---- */

size_t chain_links(const struct chain *c)
{
    return c->expression.reads;
}

bool chain_link(const struct chain *c, size_t link, gaddr *addr, uint64_t *bytes)
{
    *addr = c->link[link].addr;
    *bytes = c->expression.read[link].bytes;
    return c->link[link].known && *addr + *bytes > *addr;
}

const char *chain_name(const struct chain *c, size_t link, int *length)
{
    const struct expression_read *r = &c->expression.read[link];
    *length = r->text ? (int)r->length : (int)strlen(c->text);
    return r->text ? r->text : c->text;
}

bool chain_is_fixed(const struct chain *c, size_t link)
{
    return term_is_number(c->expression.read[link].at);
}

const uint8_t *chain_value(const struct chain *c, size_t *bytes)
{
    *bytes = c->compiled->item[0].n;
    return c->whole ? c->compiled->item[0].bytes : NULL;
}

const char *chain_text(struct chain *c)
{
    struct item *item = &c->compiled->item[0];
    struct render render = {
        .source = c->compiled->source, .pc = c->compiled->pc, .memory = c->memory, .arg = c->arg};
    struct render_value value = {.type = item->type,
                                 .bytes = item->bytes,
                                 .missing = item->missing,
                                 .n = item->n,
                                 .reference = item->referred ? &item->reference : NULL};
    if (!c->whole)
        return c->why;
    if (item->parts && item->part[0].kind == PART_MEMORY)
        compute(c, item->part[0].t, &value.address);
    render_write(&render, &value, item->text, COMPILE_TEXT);
    return item->text;
}
