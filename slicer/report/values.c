/* values.c - what flowed along the dependences of a report. SPDX-License-Identifier: MIT */
#include "slicer/report/values.h"

#include <stdlib.h>
#include <string.h>

#include "source/registers.h"
#include "study/look.h"
#include "study/past.h"

enum { VALUE_BYTES = 64, VALUE_TEXT = 120 };

struct values {
    char **text; /* by edge; NULL: none */
    size_t edges;
};

/* A value to be looked at. */
struct sight {
    uint32_t edge;
    uint64_t insn; /* before this one; trace_insns(): at the end */
    struct position at;
};

struct job {
    struct study *study;
    const struct report *report;
    const struct criterion *criterion;
    struct sight *look; /* in the order of the execution */
    size_t looks;
    struct program_registers *registers;
    struct values *out;
};

/* ---- what is to be looked at ---- */

/* Where the criterion wants what the edge brings; UINT64_MAX: at another point than its own. */
static uint64_t wanted_at(const struct job *j, const struct slice_dependence *d)
{
    const struct criterion *c = j->criterion;
    uint64_t last = 0, at = UINT64_MAX;
    for (size_t i = 0; i < c->wants; i++) {
        const struct slice_want *w = &c->want[i];
        if (w->kind == SLICE_USES)
            continue;
        last = w->at > last ? w->at : last;
        if ((w->kind == SLICE_MEMORY) == d->memory && d->addr >= w->addr &&
            d->addr - w->addr < w->bytes)
            at = w->at;
    }
    return at == last ? at : UINT64_MAX;
}

static int by_insn(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static bool is_shown(const struct report *r, const struct report_row *row)
{
    return row->own || !r->others || row->distance == 0;
}

static int list_looks(struct job *j, size_t rows, struct err *err)
{
    const struct report *r = j->report;
    size_t shown = 0;
    j->look = malloc(sizeof *j->look * (r->rows + 1));
    if (!j->look)
        return err_set(err, "no memory");
    for (size_t i = 0; i < r->rows && shown < rows; i++) {
        const struct report_row *row = &r->row[i];
        if (!is_shown(r, row))
            continue;
        shown++;
        if (row->edge == REPORT_NONE || r->edge[row->edge].sample.kind == SLICE_CONTROL)
            continue;
        const struct slice_dependence *d = &r->edge[row->edge].sample;
        uint64_t insn = d->node == UINT64_MAX ? wanted_at(j, d) : d->node;
        if (insn != UINT64_MAX)
            j->look[j->looks++] = (struct sight){
                .edge = (uint32_t)row->edge, .insn = insn, .at = j->criterion->position};
    }
    qsort(j->look, j->looks, sizeof *j->look, by_insn);
    return 0;
}

/* Positions of the instructions that are looked at; what the criterion wants has one. */
static int find_positions(struct job *j, struct err *err)
{
    uint64_t *insn = malloc(sizeof *insn * (j->looks + 1));
    struct position *at = malloc(sizeof *at * (j->looks + 1));
    size_t n = 0;
    int bad = insn && at ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < j->looks; i++)
        if (j->report->edge[j->look[i].edge].sample.node != UINT64_MAX)
            insn[n++] = j->look[i].insn;
    if (!bad)
        bad = look_positions(j->study, insn, n, at, err);
    n = 0;
    for (size_t i = 0; !bad && i < j->looks; i++)
        if (j->report->edge[j->look[i].edge].sample.node != UINT64_MAX)
            j->look[i].at = at[n++];
    free(insn);
    free(at);
    return bad;
}

/* ---- looking ---- */

/* Is it the lowest byte of a register? Variables that are smaller are there. */
static bool begins_register(uint64_t loc)
{
    return loc < LOC_VEC ? (loc - LOC_GPR) % LOC_GPR_BYTES == 0
                         : loc < LOC_MASK && (loc - LOC_VEC) % LOC_VEC_BYTES == 0;
}

/* *size, the bytes that flowed, becomes that of the variable where an instruction used more of its
 * register. */
static void type_of(struct job *j, const struct slice_dependence *d, struct source_type *type,
                    size_t *size)
{
    struct source_frame node = {.cfa = d->node_cfa}, on = {.cfa = d->on_cfa};
    struct source *s = j->study->source;
    uint32_t bytes = (uint32_t)d->bytes;
    char unused[256];
    *type = (struct source_type){0};
    if (d->memory) {
        if (!d->on_pc ||
            !source_variable_typed(s, d->on_pc, &on, d->addr, bytes, unused, sizeof unused, type))
            source_variable_typed(s, d->node_pc, &node, d->addr, bytes, unused, sizeof unused,
                                  type);
        return;
    }
    int reg = registers_number(d->addr);
    if (reg >= 0 && d->node_pc)
        source_register_typed(s, d->node_pc, (unsigned)reg, type);
    uint64_t whole = source_types_bytes(type, NULL);
    if (whole && whole < d->bytes && begins_register(d->addr))
        *size = whole < *size ? (size_t)whole : *size;
    else if (whole != d->bytes)
        *type = (struct source_type){0};
}

static int see(struct job *j, struct past *past, const struct sight *l, struct err *err)
{
    const struct slice_dependence *d = &j->report->edge[l->edge].sample;
    uint32_t thread = trace_thread(j->study->trace, d->node_thread);
    uint8_t value[VALUE_BYTES];
    struct source_type type;
    size_t bytes = d->bytes < VALUE_BYTES ? (size_t)d->bytes : VALUE_BYTES;
    if (d->memory) {
        if (past_read(past, d->addr, value, bytes) != bytes)
            return 0;
    } else if (past_registers(past, thread, j->registers, err)) {
        return -1;
    } else if (!registers_value(j->registers, d->addr, bytes, value)) {
        return 0; /* flags and their like */
    }
    char *text = malloc(VALUE_TEXT);
    if (!text)
        return err_set(err, "no memory");
    type_of(j, d, &type, &bytes);
    source_value_write(&type, value, bytes, text, VALUE_TEXT);
    j->out->text[l->edge] = text;
    return 0;
}

static bool same(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

static int see_all(struct job *j, struct err *err)
{
    struct past *past = j->looks ? past_new(j->study, err) : NULL;
    int bad = past || !j->looks ? 0 : -1;
    for (size_t i = 0; !bad && i < j->looks; i++) {
        const struct sight *l = &j->look[i];
        bool end = l->insn == trace_insns(j->study->trace);
        if (!i || (end ? l[-1].insn != l->insn : !same(&l->at, &l[-1].at)))
            bad = past_go(past, l->insn, &l->at, err);
        if (!bad)
            bad = see(j, past, l, err);
    }
    past_free(past);
    return bad ? -1 : 0;
}

/* ---- all of it ---- */

struct values *values_new(struct study *s, const struct report *r, const struct criterion *c,
                          size_t rows, struct err *err)
{
    struct job j = {.study = s, .report = r, .criterion = c};
    j.out = calloc(1, sizeof *j.out);
    j.registers = malloc(sizeof *j.registers);
    if (j.out)
        j.out->text = calloc(r->edges + 1, sizeof *j.out->text);
    int bad = j.out && j.out->text && j.registers ? 0 : err_set(err, "no memory");
    if (!bad) {
        j.out->edges = r->edges;
        bad = list_looks(&j, rows, err) || find_positions(&j, err) || see_all(&j, err);
    }
    free(j.look);
    free(j.registers);
    if (!bad)
        return j.out;
    values_free(j.out);
    return NULL;
}

void values_free(struct values *v)
{
    if (!v)
        return;
    for (size_t i = 0; v->text && i < v->edges; i++)
        free(v->text[i]);
    free(v->text);
    free(v);
}

const char *values_of(const struct values *v, int32_t edge)
{
    return v && edge >= 0 ? v->text[edge] : NULL;
}
