/* profile.c - where the instructions of a trace were executed. SPDX-License-Identifier: MIT */
#include "facts/calls/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

/* Stacks that are deeper are cut: functions may call each other by turns for ever. */
enum { STACK_DEEPEST = 256 };

struct entry { /* a function by its address */
    uint64_t pc;
    uint32_t function;
};

struct edge {
    uint64_t site, to; /* plus one */
    uint64_t calls, inclusive;
};

struct cut {
    uint64_t block, insns; /* block plus one */
    uint64_t count;
};

struct node {                 /* where the stack with a function above another one is */
    uint64_t under, function; /* plus one */
    uint32_t stack, depth;
};

struct spot {
    uint64_t file, line; /* plus one; line and function */
    uint32_t at;
};

struct maker {
    struct study *study;
    const struct profile_options *o;
    struct profile *p;
    struct follow follow;
    TABLE(struct entry) entries;
    TABLE(struct edge) edges;
    TABLE(struct cut) cuts;
    TABLE(struct node) nodes;
    TABLE(struct spot) spots;
};

void profile_deinit(struct profile *p)
{
    free(p->function);
    free(p->line);
    free(p->call);
    free(p->stack);
    *p = (struct profile){0};
}

static void maker_deinit(struct maker *m)
{
    free(m->follow.count);
    follow_deinit(&m->follow);
    free(m->entries.slot);
    free(m->edges.slot);
    free(m->cuts.slot);
    free(m->nodes.slot);
    free(m->spots.slot);
}

static int no_memory(struct err *err)
{
    return err_set(err, "no memory");
}

/* ---- functions ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The function that pc is in. */
static int find_function(struct maker *m, gaddr pc, struct source_line *at, uint32_t *out,
                         struct err *err)
{
    struct profile *p = m->p;
    struct source_line first;
    source_line(m->study->source, pc, at);
    if (table_reserve(&m->entries))
        return no_memory(err);
    struct entry *e = table_find(&m->entries, at->entry + 1);
    if (!e->pc) {
        source_line(m->study->source, at->entry, &first);
        struct profile_function new = {.name = at->outer    ? at->outer
                                               : at->module ? base_name(at->module)
                                                            : "?",
                                       .module = at->module ? at->module : "?",
                                       .file = at->outer ? first.file : NULL,
                                       .line = at->outer ? first.line : 0,
                                       .entry = at->entry};
        *e = (struct entry){at->entry + 1, (uint32_t)p->functions};
        m->entries.used++;
        if (array_push(&p->function, &p->functions, &p->function_room, new))
            return no_memory(err);
    }
    *out = e->function;
    return 0;
}

static int plan(struct maker *m, struct err *err)
{
    struct code *code = trace_code(m->study->trace);
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        struct source_line at;
        struct follow_block *f = &m->follow.block[i];
        if (find_function(m, b->pc, &at, &f->function, err))
            return -1;
        if (at.outer && !at.offset)
            f->flags |= FOLLOW_START;
    }
    m->follow.functions = (uint32_t)m->p->functions;
    m->follow.count = calloc(code_count(code) + 1u, sizeof *m->follow.count);
    return m->follow.count ? 0 : no_memory(err);
}

/* ---- the pass ---- */

/* The stack with `function` on top of `under`. */
static int find_stack(struct maker *m, uint32_t under, uint32_t function, uint32_t *out,
                      struct err *err)
{
    struct profile *p = m->p;
    if (under != PROFILE_BOTTOM && p->stack[under].function == function) {
        *out = under;
        return 0;
    }
    if (table_reserve_pair(&m->nodes))
        return no_memory(err);
    struct node *below = NULL, *n;
    if (under != PROFILE_BOTTOM)
        below = table_find_pair(&m->nodes, p->stack[under].under + 2ull,
                                p->stack[under].function + 1ull);
    uint32_t depth = below ? below->depth + 1 : 0;
    if (depth == STACK_DEEPEST) {
        *out = under;
        return 0;
    }
    n = table_find_pair(&m->nodes, under + 2ull, function + 1ull);
    if (!n->under) {
        struct profile_stack new = {.under = under, .function = function};
        *n = (struct node){under + 2ull, function + 1ull, (uint32_t)p->stacks, depth};
        m->nodes.used++;
        if (array_push(&p->stack, &p->stacks, &p->stack_room, new))
            return no_memory(err);
    }
    *out = n->stack;
    return 0;
}

static int begin(void *arg, struct follow *f, uint32_t thread, struct follow_call *c,
                 struct err *err)
{
    struct maker *m = arg;
    const struct follow_thread *t = &f->thread[thread];
    uint32_t under = t->calls > 1 ? (uint32_t)c[-1].own : PROFILE_BOTTOM, stack = 0;
    if (find_stack(m, under, c->function, &stack, err))
        return -1;
    c->own = stack;
    m->p->function[c->function].calls++;
    return 0;
}

static int over(void *arg, struct follow *f, uint32_t thread, struct follow_call *c,
                enum follow_end how, struct err *err)
{
    struct maker *m = arg;
    const struct follow_thread *t = &f->thread[thread];
    struct profile_function *function = &m->p->function[c->function];
    (void)how;
    const uint64_t all = follow_inclusive(t, c), self = follow_self(t, c);
    function->self += self;
    if (!c->again)
        function->inclusive += all;
    m->p->stack[c->own].self += self;
    if (!c->from)
        return 0;
    if (table_reserve_pair(&m->edges))
        return no_memory(err);
    struct edge *e = table_find_pair(&m->edges, c->from + 1, c->function + 1ull);
    if (!e->site) {
        *e = (struct edge){.site = c->from + 1, .to = c->function + 1ull};
        m->edges.used++;
    }
    e->calls++;
    e->inclusive += all;
    return 0;
}

static int cut(void *arg, struct follow *f, const struct trace_step *s, struct err *err)
{
    struct maker *m = arg;
    (void)f;
    if (table_reserve_pair(&m->cuts))
        return no_memory(err);
    struct cut *c = table_find_pair(&m->cuts, s->block + 1ull, s->insns);
    if (!c->block) {
        *c = (struct cut){.block = s->block + 1ull, .insns = s->insns};
        m->cuts.used++;
    }
    c->count++;
    return 0;
}

/* ---- lines ---- */

static int add_line(struct maker *m, gaddr pc, uint64_t count, struct err *err)
{
    struct profile *p = m->p;
    struct source_line at;
    uint32_t function;
    if (!count)
        return 0;
    if (find_function(m, pc, &at, &function, err))
        return -1;
    if (table_reserve_pair(&m->spots))
        return no_memory(err);
    const uint64_t file = (uint64_t)(uintptr_t)at.file + 1;
    const uint64_t line = (uint64_t)at.line << 32 | function;
    struct spot *s = table_find_pair(&m->spots, file, line);
    if (!s->file) {
        struct profile_line new = {.file = at.file, .line = at.line, .function = function};
        *s = (struct spot){file, line, (uint32_t)p->lines};
        m->spots.used++;
        if (array_push(&p->line, &p->lines, &p->line_room, new))
            return no_memory(err);
    }
    p->line[s->at].self += count;
    return 0;
}

static int count_lines(struct maker *m, struct err *err)
{
    struct code *code = trace_code(m->study->trace);
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        for (uint32_t k = 0; k < b->insns; k++)
            if (add_line(m, b->insn[k].in.pc, m->follow.count[i], err))
                return -1;
    }
    for (size_t i = 0; i < m->cuts.room; i++) {
        const struct cut *c = &m->cuts.slot[i];
        if (!c->block)
            continue;
        const struct code_block *b = code_block(code, (uint32_t)(c->block - 1));
        for (uint32_t k = 0; k < c->insns; k++)
            if (add_line(m, b->insn[k].in.pc, c->count, err))
                return -1;
    }
    return 0;
}

static int add_calls(struct maker *m, struct err *err)
{
    struct profile *p = m->p;
    for (size_t i = 0; i < m->edges.room; i++) {
        const struct edge *e = &m->edges.slot[i];
        struct source_line at;
        uint32_t from;
        if (!e->site)
            continue;
        if (find_function(m, e->site - 1, &at, &from, err))
            return -1;
        struct profile_call new = {at.file,  at.line,     from, (uint32_t)(e->to - 1),
                                   e->calls, e->inclusive};
        if (array_push(&p->call, &p->calls, &p->call_room, new))
            return no_memory(err);
    }
    return 0;
}

/* ---- order ---- */

static int by_name(const char *a, const char *b)
{
    return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int by_line(const void *a, const void *b)
{
    const struct profile_line *x = a, *y = b;
    int order = x->function < y->function ? -1 : x->function > y->function;
    order = order ? order : by_name(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int by_call(const void *a, const void *b)
{
    const struct profile_call *x = a, *y = b;
    int order = x->from < y->from ? -1 : x->from > y->from;
    order = order ? order : by_name(x->file, y->file);
    order = order ? order : x->line < y->line ? -1 : x->line > y->line;
    return order ? order : x->to < y->to ? -1 : x->to > y->to;
}

/* Several calls on a line are one. */
static void join_calls(struct profile *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->calls; i++) {
        if (kept && !by_call(&p->call[kept - 1], &p->call[i])) {
            p->call[kept - 1].calls += p->call[i].calls;
            p->call[kept - 1].inclusive += p->call[i].inclusive;
        } else {
            p->call[kept++] = p->call[i];
        }
    }
    p->calls = kept;
}

int profile_make(struct study *study, const struct profile_options *o, struct profile *out,
                 struct err *err)
{
    struct maker m = {.study = study, .o = o, .p = out};
    const struct follow_visitor v = {
        .arg = &m, .begin = begin, .end = over, .cut = cut, .watch = o->watch};
    *out = (struct profile){.insns = 0};
    int end = follow_init(&m.follow, study->trace, err);
    m.follow.only = o->thread;
    if (!end)
        end = plan(&m, err);
    if (!end)
        end = follow_study(&m.follow, study, &v, err);
    if (!end)
        end = count_lines(&m, err);
    if (!end)
        end = add_calls(&m, err);
    maker_deinit(&m);
    if (end) {
        profile_deinit(out);
        return end;
    }
    for (size_t i = 0; i < out->functions; i++)
        out->insns += out->function[i].self;
    if (out->lines)
        qsort(out->line, out->lines, sizeof *out->line, by_line);
    if (out->calls)
        qsort(out->call, out->calls, sizeof *out->call, by_call);
    join_calls(out);
    return 0;
}
