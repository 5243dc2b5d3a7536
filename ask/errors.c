/* errors.c - what the program did wrong with memory. SPDX-License-Identifier: MIT */
#include "facts/heap/errors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ask/blocks.h"
#include "ask/location.h"

enum { AT, PLACE, KIND, BLOCK, SIZE, TIMES, WHAT };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},   [PLACE] = {"place", ROWS_PLACE},
    [KIND] = {"kind", ROWS_TEXT},   [BLOCK] = {"block", ROWS_HEX},
    [SIZE] = {"size", ROWS_NUMBER}, [TIMES] = {"times", ROWS_NUMBER},
    [WHAT] = {"what", ROWS_TEXT},
};

static const char *const kind_names[HEAP_ERROR_KINDS] = {
    [HEAP_USE_AFTER_FREE] = "use after free",
    [HEAP_DOUBLE_FREE] = "double free",
    [HEAP_WRONG_FREE] = "wrong free",
    [HEAP_WRONG_FAMILY] = "wrong function",
    [HEAP_OVERFLOW] = "overflow",
    [HEAP_UNDEFINED_BRANCH] = "undefined branch",
    [HEAP_UNDEFINED_ADDRESS] = "undefined address",
    [HEAP_UNDEFINED_CALL] = "undefined data",
};

struct teller {
    struct asking *q;
    const struct heap *h;
    const struct heap_error *e;
    char buf[BLOCKS_TEXT];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct teller *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->buf + t->used, sizeof t->buf - t->used, fmt, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < sizeof t->buf - t->used ? (size_t)n : sizeof t->buf - t->used - 1;
}

static void say_caller(struct teller *t, const char *did, uint32_t call)
{
    char where[BLOCKS_TEXT / 2];
    if (call == HEAP_NONE)
        return;
    blocks_caller(t->q->study, t->h, call, where, sizeof where);
    say(t, "%s %s", where, did);
}

/* "a block of 16 that main.c:12 (T1) allocated and main.c:20 (T1) freed" */
static void say_block(struct teller *t, uint32_t block)
{
    const struct heap_block *b = &t->h->block[block];
    say(t, "a block of %" PRIu64 " that ", b->size);
    say_caller(t, "allocated", b->allocated);
    if (b->freed != HEAP_NONE && b->to <= t->e->insn) {
        say(t, " and ");
        say_caller(t, "freed", b->freed);
    }
}

static void say_where(struct teller *t)
{
    const struct heap_block *b = &t->h->block[t->e->block];
    gaddr addr = t->e->addr;
    if (addr >= b->start + b->size)
        say(t, "%" PRIu64 " bytes behind the end of ", addr - b->start - b->size);
    else if (addr < b->start)
        say(t, "%" PRIu64 " bytes before ", b->start - addr);
    else
        say(t, "%" PRIu64 " bytes into ", addr - b->start);
    say_block(t, t->e->block);
}

/* How much of an access that begins in the block is outside. */
static void say_behind(struct teller *t)
{
    const struct heap_block *b = &t->h->block[t->e->block];
    gaddr end = b->start + b->size;
    if (t->e->addr >= b->start && t->e->addr < end)
        say(t, ", %" PRIu64 " of them behind its end", t->e->addr + t->e->bytes - end);
}

static void say_access(struct teller *t)
{
    const struct heap_error *e = t->e;
    say(t, "%s %" PRIu64 " byte%s at ", e->write ? "writes" : "reads", e->bytes,
        e->bytes == 1 ? "" : "s");
    say_where(t);
    if (e->kind == HEAP_OVERFLOW)
        say_behind(t);
    if (e->other != HEAP_NONE) {
        say(t, "; there is ");
        say_block(t, e->other);
    }
}

static void say_free(struct teller *t)
{
    const struct heap_error *e = t->e;
    const char *function = blocks_function(t->h, e->call);
    if (e->kind == HEAP_DOUBLE_FREE) {
        say(t, "%s frees once more ", function);
        say_block(t, e->block);
    } else if (e->kind == HEAP_WRONG_FAMILY) {
        say(t, "%s frees what %s gave out: ", function,
            blocks_function(t->h, t->h->block[e->block].allocated));
        say_block(t, e->block);
    } else if (e->block != HEAP_NONE) {
        say(t, "%s frees what is ", function);
        say_where(t);
    } else {
        say(t, "%s frees 0x%" PRIx64 ", which no allocator gave out", function, e->addr);
    }
}

static void say_undefined(struct teller *t)
{
    static const char *const does[HEAP_ERROR_KINDS] = {
        [HEAP_UNDEFINED_BRANCH] = "branches on",
        [HEAP_UNDEFINED_ADDRESS] = "takes for an address",
        [HEAP_UNDEFINED_CALL] = "gives to the kernel",
    };
    const struct heap_error *e = t->e;
    struct source_line l;
    char where[BLOCKS_TEXT / 2];
    blocks_place(t->q->study, e->from_pc, where, sizeof where);
    say(t, "%s what nobody has written: %" PRIu64 " byte%s ", does[e->kind], e->bytes,
        e->bytes == 1 ? "" : "s");
    if (e->block != HEAP_NONE)
        say_where(t);
    else
        say(t, "at 0x%" PRIx64 ", where a function that is over had its stack", e->addr);
    if (e->kind != HEAP_UNDEFINED_CALL && study_own(t->q->study, e->from_pc, &l))
        say(t, ", read at %s", where);
}

static void (*const sayings[HEAP_ERROR_KINDS])(struct teller *t) = {
    [HEAP_USE_AFTER_FREE] = say_access,
    [HEAP_DOUBLE_FREE] = say_free,
    [HEAP_WRONG_FREE] = say_free,
    [HEAP_WRONG_FAMILY] = say_free,
    [HEAP_OVERFLOW] = say_access,
    [HEAP_UNDEFINED_BRANCH] = say_undefined,
    [HEAP_UNDEFINED_ADDRESS] = say_undefined,
    [HEAP_UNDEFINED_CALL] = say_undefined,
};

/* The user's own code that it happened in, or under. */
static gaddr own_place(struct asking *q, const struct heap *h, const struct heap_error *e)
{
    struct source_line l;
    bool freed = e->call != HEAP_NONE;
    if (!freed && study_own(q->study, e->pc, &l))
        return e->pc;
    gaddr caller = heap_caller(h, q->study, e->stack);
    return caller && (freed || study_own(q->study, caller, &l)) ? caller : e->pc;
}

static int tell(struct asking *q, const struct heap *h, const struct heap_error *e, struct err *err)
{
    struct teller t = {.q = q, .h = h, .e = e};
    struct position at = {
        .thread = trace_thread(q->study->trace, e->thread), .count = e->count, .pc = e->pc};
    rows_position(q->rows, AT, &at, e->insn);
    location_place(q, PLACE, own_place(q, h, e));
    rows_text(q->rows, KIND, kind_names[e->kind]);
    if (e->block != HEAP_NONE) {
        rows_hex(q->rows, BLOCK, h->block[e->block].start);
        rows_number(q->rows, SIZE, h->block[e->block].size);
    }
    rows_number(q->rows, TIMES, e->times);
    sayings[e->kind](&t);
    rows_text(q->rows, WHAT, t.buf);
    return rows_end(q->rows, err);
}

int ask_errors(struct asking *q, struct err *err)
{
    struct heap *h = heap_of(q->study, q->given->allocator, err);
    const struct heap_errors *e = h ? heap_errors(h, q->study, err) : NULL;
    if (!e || rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    int end = 0;
    for (size_t i = 0; !end && i < e->count; i++)
        end = tell(q, h, &e->list[i], err);
    blocks_note(q, h);
    return end;
}
