/* words.c - words for blocks of memory and for what was done wrong with them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "facts/heap/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void heap_words_place(struct study *s, gaddr pc, char *buf, size_t room)
{
    struct source_line l = {.module = NULL};
    if (!study_own(s, pc, &l)) /* it sets the line that called what was inlined from elsewhere */
        source_line(s->source, pc, &l);
    if (l.file)
        snprintf(buf, room, "%s:%" PRIu32, base_name(l.file), l.line);
    else
        source_name(s->source, pc, buf, room);
}

void heap_words_caller(struct study *s, const struct heap *h, uint32_t call, char *buf, size_t room)
{
    const struct heap_call *c = &h->call[call];
    char place[HEAP_WORDS / 2];
    heap_words_place(s, heap_caller(h, s, c->stack), place, sizeof place);
    snprintf(buf, room, "%s (T%" PRIu32 ")", place, trace_thread(s->trace, c->thread));
}

const char *heap_words_function(const struct heap *h, uint32_t call)
{
    const struct heap_function *f = &h->functions.list[h->call[call].function];
    static const char *const names[][2] = {
        [HEAP_NEW] = {"operator new", "operator delete"},
        [HEAP_NEW_ARRAY] = {"operator new[]", "operator delete[]"}};
    return f->family == HEAP_NEW || f->family == HEAP_NEW_ARRAY
               ? names[f->family][f->does == HEAP_FREES]
               : f->name;
}

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

enum { CALLS_MOST = 2 };

struct teller {
    struct study *study;
    const struct heap *h;
    const struct heap_error *e;
    bool calls; /* with the calls that led there */
    char *buf;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct teller *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->buf + t->used, HEAP_WORDS - t->used, fmt, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < HEAP_WORDS - t->used ? (size_t)n : HEAP_WORDS - t->used - 1;
}

/* Says one of the calls that led to the caller, unless the place is the one that was said last. */
static void say_call(struct teller *t, const char *file, uint32_t line, char *last, unsigned *said)
{
    char where[HEAP_WORDS / 4];
    snprintf(where, sizeof where, "%s:%" PRIu32, base_name(file), line);
    if (*said == CALLS_MOST || strncmp(file, "/usr/", 5) == 0 || strcmp(where, last) == 0)
        return;
    say(t, "%s%s", (*said)++ ? ", " : "for ", where);
    memcpy(last, where, sizeof where);
}

/* "for main.c:95, main.c:20 ": calls that led to the caller, inlined ones too, in other lines of
 * the user's. */
static void say_calls(struct teller *t, uint32_t stack)
{
    enum { INLINED_MOST = 16 };
    char last[HEAP_WORDS / 4];
    unsigned said = 0;
    heap_words_place(t->study, heap_caller(t->h, t->study, stack), last, sizeof last);
    const gaddr *frame = t->h->frame + t->h->stack[stack].first;
    for (uint32_t i = 0; i < t->h->stack[stack].count; i++) {
        struct source_call call[INLINED_MOST];
        struct source_line l;
        if (!study_own(t->study, frame[i], &l) || !l.file)
            continue;
        say_call(t, l.file, l.line, last, &said);
        size_t n = source_calls(t->study->source, frame[i], call, INLINED_MOST);
        for (size_t k = 0; k < n && k < INLINED_MOST; k++)
            if (call[k].file)
                say_call(t, call[k].file, call[k].line, last, &said);
    }
    if (said)
        say(t, " ");
}

static void say_caller(struct teller *t, const char *did, uint32_t call)
{
    char where[HEAP_WORDS / 2];
    if (call == HEAP_NONE)
        return;
    heap_words_caller(t->study, t->h, call, where, sizeof where);
    say(t, "%s ", where);
    if (t->calls)
        say_calls(t, t->h->call[call].stack);
    say(t, "%s", did);
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

/* "buf, 16 bytes on the stack of fill" */
static void say_variable(struct teller *t)
{
    const struct heap_error *e = t->e;
    const struct source_frame frame = {.cfa = e->variable_cfa};
    struct source_line l;
    char name[HEAP_WORDS / 4];
    source_line(t->study->source, e->variable_pc, &l);
    if (!e->variable_bytes) {
        say(t, "what %s has on the stack", l.outer ? l.outer : "a function");
        return;
    }
    bool known = source_variable(t->study->source, e->variable_pc, e->variable_cfa ? &frame : NULL,
                                 e->variable, (uint32_t)e->variable_bytes, name, sizeof name);
    say(t, "%s, %" PRIu64 " bytes", known ? name : "a variable", e->variable_bytes);
    if (e->variable_cfa)
        say(t, " on the stack of %s", l.function ? l.function : "a function");
}

/* Where the address is, to the block or the variable. */
static void say_where(struct teller *t)
{
    const struct heap_error *e = t->e;
    const struct heap_block *b = e->variable ? NULL : &t->h->block[e->block];
    gaddr addr = e->addr, start = b ? b->start : e->variable;
    uint64_t size = b ? b->size : e->variable_bytes;
    if (addr >= start + size)
        say(t, "%" PRIu64 " bytes behind the end of ", addr - start - size);
    else if (addr < start)
        say(t, "%" PRIu64 " bytes before ", start - addr);
    else
        say(t, "%" PRIu64 " bytes into ", addr - start);
    if (b)
        say_block(t, e->block);
    else
        say_variable(t);
}

/* How much of an access that begins in the block is outside. */
static void say_behind(struct teller *t)
{
    const struct heap_error *e = t->e;
    gaddr start = e->variable ? e->variable : t->h->block[e->block].start;
    gaddr end = start + (e->variable ? e->variable_bytes : t->h->block[e->block].size);
    if (e->addr >= start && e->addr < end)
        say(t, ", %" PRIu64 " of them behind its end", e->addr + e->bytes - end);
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
    const char *function = heap_words_function(t->h, e->call);
    if (e->kind == HEAP_DOUBLE_FREE) {
        say(t, "%s frees once more ", function);
        say_block(t, e->block);
    } else if (e->kind == HEAP_WRONG_FAMILY) {
        say(t, "%s frees what %s gave out: ", function,
            heap_words_function(t->h, t->h->block[e->block].allocated));
        say_block(t, e->block);
    } else if (e->block != HEAP_NONE) {
        say(t, "%s frees what is ", function);
        say_where(t);
    } else {
        say(t, "%s frees 0x%" PRIx64 ", which no allocator gave out", function, e->addr);
    }
}

/* "l.burst, declared at main.c:12"; false: it has no name. */
static bool say_declared(struct teller *t)
{
    const struct heap_error *e = t->e;
    const struct source_frame frame = {.cfa = e->owner_cfa};
    struct source *s = t->study->source;
    char name[HEAP_WORDS / 4];
    const char *file;
    uint32_t line;
    if (!e->owner_pc ||
        !source_variable(s, e->owner_pc, &frame, e->addr, (uint32_t)e->bytes, name, sizeof name))
        return false;
    say(t, "%s", name);
    if (source_variable_declared(s, e->owner_pc, &frame, e->addr, &file, &line))
        say(t, ", declared at %s:%" PRIu32, base_name(file), line);
    return true;
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
    char where[HEAP_WORDS / 2];
    heap_words_place(t->study, e->from_pc, where, sizeof where);
    say(t, "%s what nobody has written: ", does[e->kind]);
    if (e->block != HEAP_NONE || !say_declared(t)) {
        say(t, "%" PRIu64 " byte%s ", e->bytes, e->bytes == 1 ? "" : "s");
        if (e->block != HEAP_NONE)
            say_where(t);
        else
            say(t, "at 0x%" PRIx64 ", where a function that is over had its stack", e->addr);
    }
    if (e->kind != HEAP_UNDEFINED_CALL && study_own(t->study, e->from_pc, &l))
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

gaddr heap_words_own(struct study *s, const struct heap *h, const struct heap_error *e)
{
    struct source_line l;
    bool freed = e->call != HEAP_NONE;
    if (!freed && study_own(s, e->pc, &l))
        return e->pc;
    gaddr caller = heap_caller(h, s, e->stack);
    return caller && (freed || study_own(s, caller, &l)) ? caller : e->pc;
}

const char *heap_words_kind(uint8_t kind)
{
    return kind_names[kind];
}

void heap_words_error(struct study *s, const struct heap *h, const struct heap_error *e, bool calls,
                      char text[HEAP_WORDS])
{
    struct teller t = {.study = s, .h = h, .e = e, .calls = calls, .buf = text};
    text[0] = 0;
    sayings[e->kind](&t);
}
