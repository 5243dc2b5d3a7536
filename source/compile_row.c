/* compile_row.c - what a probe's row says about compiled expressions. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/compile_int.h"

/* The pieces of a row, one after the other. An expression fails softly, and its remaining pieces
 * are there, or its code has failed and they are not: then functions return -1. */
struct row {
    struct compiled *c;
    const struct compile_piece *piece;
    size_t n, at;
    gaddr address;         /* that was said to be read next */
    char why[COMPILE_WHY]; /* why it failed, at first; empty: it did not */
};

static void fail(struct row *row, const char *why)
{
    if (!row->why[0])
        snprintf(row->why, sizeof row->why, "%s", why);
}

static void fail_at(struct row *row, gaddr addr)
{
    if (!row->why[0])
        snprintf(row->why, sizeof row->why, "<cannot access memory at 0x%" PRIx64 ">", addr);
}

const char *compile_failure(unsigned result)
{
    switch (result) {
    case AGENT_STACK_EMPTY: /* TERM_FAIL */
        return "<optimized out>";
    case AGENT_UNREADABLE:
        return "<cannot access memory>";
    case AGENT_DIVISION:
        return "<division by zero>";
    default:
        return "<it cannot be evaluated>";
    }
}

/* The next piece with contents. NULL: the code has failed; the next expression follows. */
static const struct compile_piece *next(struct row *row)
{
    while (row->at < row->n) {
        const struct compile_piece *p = &row->piece[row->at++];
        if (p->head.kind == PIECE_FAILED) {
            if (p->head.where == AGENT_UNREADABLE)
                fail_at(row, row->address);
            else
                fail(row, compile_failure((unsigned)p->head.where));
            return NULL;
        }
        if (p->head.kind != PIECE_MEMORY || p->head.bytes || p->head.end != PIECE_WHOLE)
            return p;
        row->address = p->head.where;
    }
    fail(row, "<the row has no room for it>");
    return NULL;
}

/* ---- terms ---- */

static int evaluate(struct row *row, struct term x, uint64_t *v);

static int evaluate_branch(struct row *row, const struct term_node *node, uint64_t *v)
{
    uint64_t a, b = 0, c = 0;
    bool all = term_is_floating(&row->c->terms, node->a); /* then all was taken */
    if (evaluate(row, node->a, &a))
        return -1;
    bool yes = node->op != TERM_OR && (a || all), no = node->op != TERM_AND && (!a || all);
    struct term other = node->op == TERM_OR ? node->b : node->c;
    if ((yes && evaluate(row, node->b, &b)) || (no && evaluate(row, other, &c)))
        return -1;
    *v = node->op == TERM_CHOICE ? (a ? b : c) : node->op == TERM_AND ? a && b : a || c;
    return 0;
}

static int evaluate_taken(struct row *row, const struct term_node *node, uint64_t *v)
{
    const struct compile_piece *p = next(row);
    size_t from = node->op == TERM_VECTOR ? node->offset : 0;
    size_t bytes = node->op == TERM_VECTOR ? node->bytes : sizeof *v;
    *v = 0;
    if (!p)
        return -1;
    if (from + bytes > p->head.bytes)
        fail(row, "<its register is not known>");
    else
        memcpy(v, p->bytes + from, bytes);
    return 0;
}

/* As the code has written it: write_inputs(). */
static int evaluate(struct row *row, struct term x, uint64_t *v)
{
    const struct term_node *node = term_node(&row->c->terms, x);
    uint64_t a, b = 0;
    *v = x.v;
    if (!node)
        return 0;
    if (!node->floating || node->op == TERM_VECTOR)
        return evaluate_taken(row, node, v);
    if (node->op == TERM_AND || node->op == TERM_OR || node->op == TERM_CHOICE)
        return evaluate_branch(row, node, v);
    if (evaluate(row, node->a, &a) || evaluate(row, node->b, &b))
        return -1;
    if (!term_fold(node->op, node->bits, a, b, v))
        fail(row, "<division by zero>");
    return 0;
}

/* ---- values ---- */

size_t compile_memory(const struct compile_piece *piece, size_t n, gaddr addr, void *out,
                      size_t bytes)
{
    size_t best = RENDER_UNREAD;
    for (size_t i = 0; i < n; i++) {
        const struct compile_piece *p = &piece[i];
        uint64_t into = addr - p->head.where;
        bool told = p->head.kind == PIECE_MEMORY && !p->head.bytes && p->head.end == PIECE_WHOLE;
        if ((p->head.kind != PIECE_MEMORY && p->head.kind != PIECE_STRING) || told ||
            into > p->head.bytes)
            continue;
        size_t have = p->head.bytes - into;
        if (best != RENDER_UNREAD && have <= best)
            continue;
        best = have < bytes ? have : bytes;
        memcpy(out, p->bytes + into, best);
    }
    return best;
}

static size_t memory_at(void *arg, gaddr addr, void *out, size_t bytes)
{
    const struct row *row = arg;
    return compile_memory(row->piece, row->n, addr, out, bytes);
}

static int read_part(struct row *row, const struct part *part, struct item *item, gaddr *address)
{
    uint64_t v;
    if (part->kind == PART_GONE) {
        memset(item->missing + part->at, true, part->bytes * sizeof *item->missing);
        return 0;
    }
    if (part->kind == PART_TERM) {
        if (evaluate(row, part->t, &v))
            return -1;
        memcpy(item->bytes + part->at, &v, part->bytes);
        return 0;
    }
    const struct compile_piece *p = next(row);
    if (!p)
        return -1;
    if (!part->at)
        *address = p->head.where;
    if (p->head.end == PIECE_UNREADABLE)
        fail_at(row, p->head.where + p->head.bytes);
    else if (p->head.bytes != part->bytes)
        fail(row, "<the row has no room for it>");
    else
        memcpy(item->bytes + part->at, p->bytes, part->bytes);
    return 0;
}

static void read_item(struct row *row, struct item *item)
{
    struct render render = {
        .source = row->c->source, .pc = row->c->pc, .memory = memory_at, .arg = row};
    struct render_value value = {.type = item->type,
                                 .bytes = item->bytes,
                                 .missing = item->missing,
                                 .n = item->n,
                                 .reference = item->referred ? &item->reference : NULL};
    int stopped = 0;
    row->why[0] = 0;
    for (size_t i = 0; i < item->parts && !stopped; i++)
        stopped = read_part(row, &item->part[i], item, &value.address);
    bool whole = !row->why[0];
    if (whole)
        render_write(&render, &value, item->text, COMPILE_TEXT);
    else
        snprintf(item->text, COMPILE_TEXT, "%s", row->why);
    for (unsigned i = 0; i < item->leads && !stopped; i++)
        stopped = next(row) == NULL;
}

int compile_read(struct compiled *c, const struct compile_piece *piece, size_t n)
{
    struct row row = {.c = c, .piece = piece, .n = n};
    uint64_t truth = 1;
    c->reason[0] = 0;
    if (c->reader_decides) {
        evaluate(&row, c->truth, &truth);
        memcpy(c->reason, row.why, sizeof c->reason);
    }
    for (unsigned i = 0; i < c->items && truth; i++)
        if (!c->item[i].problem)
            read_item(&row, &c->item[i]);
    return c->reason[0] ? -1 : truth != 0;
}

const char *compile_text(const struct compiled *c, unsigned number)
{
    return c->item[number].text;
}

bool compile_decides(const struct compiled *c)
{
    return c->reader_decides;
}

const char *compile_reason(const struct compiled *c)
{
    return c->reason;
}
