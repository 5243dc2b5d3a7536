/* history.c - what was done to what threads wait for. SPDX-License-Identifier: MIT */
#include "facts/hang/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/bytecode.h"
#include "study/probe.h"

enum { OBJECT_BYTES = 64, PROBES = 4096 }; /* a rwlock has 56 */

/* What a row has, in this order, with DWARF's numbers. */
static const struct {
    uint8_t agent, dwarf;
} taken[] = {{AGENT_RDI, 5},         {AGENT_RSI, 4},         {AGENT_RBX, 3},
             {AGENT_RBP, STACK_RBP}, {AGENT_RSP, STACK_RSP}, {AGENT_R8 + 4, 12},
             {AGENT_R8 + 5, 13},     {AGENT_R8 + 6, 14},     {AGENT_R8 + 7, 15},
             {AGENT_RIP, STACK_PC}};

struct search {
    struct study *study;
    struct history *out;
    struct probe *probe;
    struct calls_function *is; /* of each probe */
    size_t probes;
    uint64_t rows;
    struct bytecode when, take;
};

void history_deinit(struct history *h)
{
    free(h->party);
    numbers_deinit(&h->known);
    *h = (struct history){0};
}

/* ---- probes ---- */

static void add_symbol(void *arg, const char *name, gaddr pc)
{
    struct search *q = arg;
    struct calls_function is = calls_known(name);
    if (!is.kind || is.does == CALLS_MAKES || q->probes == PROBES)
        return;
    for (size_t i = 0; i < q->probes; i++)
        if (q->probe[i].pc == pc)
            return;
    q->is[q->probes] = is;
    q->probe[q->probes++] = (struct probe){.pc = pc,
                                           .when = q->when.code,
                                           .when_bytes = q->when.bytes,
                                           .take = q->take.code,
                                           .take_bytes = q->take.bytes};
}

/* Is one of the words inside of what the first argument points to? */
static void write_when(struct bytecode *b, const gaddr *word, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        bytecode_const(b, word[i]);
        bytecode_reg(b, AGENT_RDI);
        bytecode_op(b, OP_SUB);
        bytecode_const(b, OBJECT_BYTES);
        bytecode_op(b, OP_LESS_UNSIGNED);
        if (i)
            bytecode_op(b, OP_BIT_OR);
    }
    bytecode_end(b);
}

static void write_take(struct bytecode *b)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        bytecode_take_register(b, taken[i].agent);
    bytecode_reg(b, AGENT_RSP);
    bytecode_take(b, HISTORY_STACK);
    bytecode_end(b);
}

/* ---- rows ---- */

static void read_row(const struct probe_row *row, struct history_call *c)
{
    struct probe_piece piece;
    const uint8_t *bytes;
    uint32_t at = 0;
    c->at = row->at;
    c->ticks = row->ticks;
    for (size_t i = 0; probe_piece(row, &at, &piece, &bytes) == 1; i++) {
        if (i < sizeof taken / sizeof *taken && piece.kind == PIECE_REGISTER && piece.bytes == 8) {
            memcpy(&c->frame.reg[taken[i].dwarf], bytes, 8);
            c->frame.known |= 1u << taken[i].dwarf;
        } else if (piece.kind == PIECE_MEMORY && piece.bytes <= HISTORY_STACK) {
            memcpy(c->stack, bytes, piece.bytes);
            c->stack_bytes = piece.bytes;
        }
    }
}

bool history_reads(const struct history_call *c)
{
    return c->is.does == CALLS_TAKES_SHARED || c->is.does == CALLS_TRIES_SHARED;
}

static int take_row(void *arg, const struct probe_row *row, struct err *err)
{
    enum { FIRST = 5, SECOND = 4 }; /* argument */
    struct search *q = arg;
    struct history *h = q->out;
    struct history_call c = {.is = q->is[row->probe], .order = ++q->rows};
    if (row->undone || row->when != AGENT_DONE)
        return 0;
    read_row(row, &c);
    gaddr object = c.frame.reg[FIRST];
    c.second = c.frame.reg[SECOND];
    uint32_t i = numbers_add(&h->known, object, row->at.thread);
    if (i == NUMBERS_NONE ||
        (i == h->parties &&
         array_append(&h->party, &h->parties,
                      ((struct history_party){.object = object, .thread = row->at.thread}))))
        return err_set(err, "no memory");
    struct history_party *p = &h->party[i];
    if (c.is.does == CALLS_GIVES) {
        p->out = c;
    } else {
        p->earlier = p->in;
        p->in = c;
    }
    if (history_reads(&c))
        p->readers++;
    else if (c.is.does == CALLS_GIVES && p->readers)
        p->readers--;
    return 0;
}

int history_make(struct history *h, struct study *s, const gaddr *word, size_t words,
                 struct err *err)
{
    struct search *q = calloc(1, sizeof *q);
    int bad = 0;
    *h = (struct history){0};
    if (q) {
        q->probe = calloc(PROBES, sizeof *q->probe);
        q->is = calloc(PROBES, sizeof *q->is);
    }
    if (!q || !q->probe || !q->is) {
        bad = err_set(err, "no memory");
    } else {
        q->study = s;
        q->out = h;
        write_when(&q->when, word, words < HISTORY_OBJECTS ? words : HISTORY_OBJECTS);
        write_take(&q->take);
        source_symbols_each(s->source, add_symbol, q);
        if (q->probes && words)
            bad = study_probe(s, q->probe, q->probes, NULL, take_row, q, err);
    }
    if (q) {
        free(q->probe);
        free(q->is);
    }
    free(q);
    return bad < 0 ? -1 : 0;
}

/* ---- lines ---- */

static size_t read_stack(void *arg, gaddr addr, void *out, size_t bytes)
{
    const struct history_call *c = arg;
    uint64_t at = addr - c->frame.reg[STACK_RSP];
    if (at >= c->stack_bytes || bytes > c->stack_bytes - at)
        return 0;
    memcpy(out, c->stack + at, bytes);
    return bytes;
}

gaddr history_line(struct study *s, const struct history_call *c)
{
    struct stack_frame frame[STACK_FRAMES] = {c->frame};
    const struct stack_memory memory = {read_stack, (void *)(uintptr_t)c};
    size_t count = stack_unwind(s, &memory, frame, STACK_FRAMES);
    size_t own = stack_own(s, frame, count);
    return own < count ? stack_line_pc(frame, own) : 0;
}
