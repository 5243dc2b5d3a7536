/* coverage.c - how often each line was executed.
 *
 * SPDX-License-Identifier: MIT
 *
 * Inside a block lines follow each other always, so it is enough to know how often each block was
 * executed, and how often it was come to from another line.
 */
#include "facts/calls/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "facts/calls/follow.h"
#include "source/functions.h"

struct spot {            /* a line */
    uint64_t file, line; /* plus one; line */
    uint32_t number;     /* from 1 */
};

struct known {     /* a file */
    uint64_t file; /* plus one */
    bool own;
};

/* What is known of a block: lines by number, 0: none. */
struct lines {
    uint32_t first, last;
    bool changes;     /* there are several */
    uint64_t entered; /* from elsewhere, or again */
    uint32_t end;     /* the first block that ends as this one does: their ends are one place */
    uint64_t round;   /* in which that place was come to last */
};

struct ending {
    uint64_t pc;
    uint32_t block;
};

struct maker {
    struct study *study;
    const struct coverage_options *o;
    struct coverage *c;
    struct follow follow;
    struct lines *block;
    struct functions functions;
    uint64_t *called; /* by function */
    uint64_t rounds;  /* that there were: stays on a line, and in these, rounds of a loop */
    TABLE(struct spot) spots;
    TABLE(struct known) files;
    TABLE(struct ending) ends;
    bool failed; /* there was no memory for a line */
};

void coverage_deinit(struct coverage *c)
{
    free(c->line);
    free(c->function);
    *c = (struct coverage){0};
}

static void maker_deinit(struct maker *m)
{
    free(m->follow.count);
    follow_deinit(&m->follow);
    functions_deinit(&m->functions);
    free(m->block);
    free(m->called);
    free(m->spots.slot);
    free(m->files.slot);
    free(m->ends.slot);
}

static int no_memory(struct err *err)
{
    return err_set(err, "no memory");
}

/* ---- lines ---- */

/* Is it a file of the user's? As far as the line at pc, which is the file's, says. */
static bool is_own(struct maker *m, const char *file, gaddr pc)
{
    struct source_line at;
    if (table_reserve(&m->files)) {
        m->failed = true;
        return false;
    }
    struct known *k = table_find(&m->files, (uint64_t)(uintptr_t)file + 1);
    if (!k->file) {
        *k = (struct known){(uint64_t)(uintptr_t)file + 1, study_line(m->study, pc, &at)};
        m->files.used++;
    }
    return k->own;
}

/* The number of a line; 0: it is not the user's, or there is no memory. */
static uint32_t number_of(struct maker *m, gaddr pc, const char *file, uint32_t line)
{
    struct coverage *c = m->c;
    if (!file || !line || !is_own(m, file, pc))
        return 0;
    if (table_reserve_pair(&m->spots)) {
        m->failed = true;
        return 0;
    }
    struct spot *s = table_find_pair(&m->spots, (uint64_t)(uintptr_t)file + 1, line);
    if (!s->file) {
        struct coverage_line new = {.file = file, .line = line};
        if (array_push(&c->line, &c->lines, &c->line_room, new)) {
            m->failed = true;
            return 0;
        }
        *s = (struct spot){(uint64_t)(uintptr_t)file + 1, line, (uint32_t)c->lines};
        m->spots.used++;
    }
    return s->number;
}

static uint32_t line_at(struct maker *m, gaddr pc)
{
    struct source_line at;
    source_line(m->study->source, pc, &at);
    return number_of(m, pc, at.file, at.line);
}

static int add_line(void *arg, gaddr pc, const char *file, uint32_t line)
{
    number_of(arg, pc, file, line);
    return 0;
}

/* ---- the pass ---- */

static int by_entry(const void *key, const void *element)
{
    gaddr pc = *(const gaddr *)key;
    const struct functions_one *one = element;
    return pc < one->entry ? -1 : pc > one->entry;
}

/* Functions of the user's, with lines; others are taken out. */
static int plan_functions(struct maker *m, struct err *err)
{
    struct functions *l = &m->functions;
    struct source_line at;
    size_t kept = 0;
    if (functions_find(m->study->source, "*", l, err))
        return err->code == SOURCE_NO_FUNCTION ? 0 : -1;
    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].kind == FUNCTIONS_WHOLE && study_line(m->study, l->at[i].entry, &at) &&
            at.outer && !at.offset)
            l->at[kept++] = l->at[i];
    l->count = kept;
    m->follow.functions = (uint32_t)kept;
    m->called = calloc(kept + 1, sizeof *m->called);
    return m->called ? 0 : no_memory(err);
}

static int look_at_block(struct maker *m, const struct code_block *b, struct err *err)
{
    struct lines *l = &m->block[b->number];
    if (table_reserve(&m->ends))
        return no_memory(err);
    struct ending *e = table_find(&m->ends, code_last(b)->pc + 1);
    if (!e->pc) {
        *e = (struct ending){code_last(b)->pc + 1, b->number};
        m->ends.used++;
    }
    *l = (struct lines){
        .first = line_at(m, b->pc), .last = line_at(m, code_last(b)->pc), .end = e->block};
    for (uint32_t k = 1; k < b->insns; k++)
        l->changes |= line_at(m, b->insn[k].in.pc) != l->first;
    if (l->first || l->changes)
        m->follow.block[b->number].flags |= FOLLOW_WITHIN;
    return 0;
}

static int plan(struct maker *m, struct err *err)
{
    struct code *code = trace_code(m->study->trace);
    const struct functions *l = &m->functions;
    m->block = calloc(code_count(code) + 1u, sizeof *m->block);
    m->follow.count = calloc(code_count(code) + 1u, sizeof *m->follow.count);
    if (!m->block || !m->follow.count)
        return no_memory(err);
    if (plan_functions(m, err))
        return -1;
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        struct follow_block *f = &m->follow.block[i];
        const struct functions_one *one =
            l->count ? bsearch(&b->pc, l->at, l->count, sizeof *l->at, by_entry) : NULL;
        if (look_at_block(m, b, err))
            return -1;
        if (one) {
            f->function = (uint32_t)(one - l->at);
            f->flags |= FOLLOW_START;
        }
    }
    return 0;
}

static int begin(void *arg, struct follow *f, uint32_t thread, struct follow_call *c,
                 struct err *err)
{
    struct maker *m = arg;
    (void)f, (void)thread, (void)err;
    m->called[c->function]++;
    return 0;
}

static int within(void *arg, struct follow *f, const struct trace_step *s, struct err *err)
{
    struct maker *m = arg;
    (void)err;
    const struct follow_thread *t = &f->thread[s->thread];
    uint64_t *round = &t->call[t->calls - 1].own; /* of this execution */
    struct lines *to = &m->block[s->block], *end = &m->block[to->end];
    bool comes = !t->block || m->block[t->block - 1].last != to->first;
    if (comes || (end->round == *round && !to->changes)) {
        *round = ++m->rounds;
        to->entered += s->insns > 0;
    }
    if (to->changes)
        *round = ++m->rounds;
    end->round = *round;
    return 0;
}

/* Not all of the block was executed: lines in it are counted here. */
static int cut(void *arg, struct follow *f, const struct trace_step *s, struct err *err)
{
    struct maker *m = arg;
    const struct code_block *b = code_block(trace_code(f->trace), s->block);
    (void)err;
    uint32_t last = m->block[s->block].first;
    for (uint32_t i = 1; i < s->insns; i++) {
        uint32_t line = line_at(m, b->insn[i].in.pc);
        if (line && line != last)
            m->c->line[line - 1].count++;
        last = line;
    }
    return 0;
}

static void count_lines(struct maker *m)
{
    struct code *code = trace_code(m->study->trace);
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        uint32_t last = m->block[i].first;
        if (last)
            m->c->line[last - 1].count += m->block[i].entered;
        for (uint32_t k = 1; m->follow.count[i] && k < b->insns; k++) {
            uint32_t line = line_at(m, b->insn[k].in.pc);
            if (line && line != last)
                m->c->line[line - 1].count += m->follow.count[i];
            last = line;
        }
    }
}

static int add_functions(struct maker *m, struct err *err)
{
    struct coverage *c = m->c;
    const struct functions *l = &m->functions;
    c->function = calloc(l->count + 1, sizeof *c->function);
    if (!c->function)
        return no_memory(err);
    for (size_t i = 0; i < l->count; i++) {
        struct source_line at;
        source_line(m->study->source, l->at[i].entry, &at);
        c->function[c->functions++] =
            (struct coverage_function){at.file, l->at[i].name, at.line, m->called[i]};
    }
    return 0;
}

/* ---- order ---- */

static int by_line(const void *a, const void *b)
{
    const struct coverage_line *x = a, *y = b;
    int order = x->file == y->file ? 0 : strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int by_function(const void *a, const void *b)
{
    const struct coverage_function *x = a, *y = b;
    int order = x->file == y->file ? 0 : strcmp(x->file, y->file);
    order = order ? order : x->line < y->line ? -1 : x->line > y->line;
    return order ? order : strcmp(x->name, y->name);
}

int coverage_make(struct study *study, const struct coverage_options *o, struct coverage *out,
                  struct err *err)
{
    struct maker m = {.study = study, .o = o, .c = out};
    const struct follow_visitor v = {
        .arg = &m, .begin = begin, .within = within, .cut = cut, .watch = o->watch};
    *out = (struct coverage){0};
    int end = follow_init(&m.follow, study->trace, err);
    m.follow.only = o->thread;
    if (!end)
        end = plan(&m, err);
    if (!end)
        end = functions_lines(study->source, add_line, &m);
    if (!end)
        end = follow_study(&m.follow, study, &v, err);
    if (!end) {
        count_lines(&m);
        end = m.failed ? no_memory(err) : add_functions(&m, err);
    }
    maker_deinit(&m);
    if (end) {
        coverage_deinit(out);
        return end;
    }
    if (out->lines)
        qsort(out->line, out->lines, sizeof *out->line, by_line);
    if (out->functions)
        qsort(out->function, out->functions, sizeof *out->function, by_function);
    return 0;
}
