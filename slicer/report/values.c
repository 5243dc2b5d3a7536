/* values.c - what flowed along the dependences of a report. SPDX-License-Identifier: MIT */
#include "slicer/report/values.h"

#include <stdlib.h>
#include <string.h>

#include "source/access.h"
#include "source/registers.h"
#include "study/look.h"
#include "study/past.h"

enum { VALUE_BYTES = 64, VALUE_TEXT = 120, FAILURES_MOST = 3 };

/* A value to be looked at. */
struct sight {
    const struct slice_dependence *flow;
    uint64_t insn; /* before this one; trace_insns(): at the end */
    struct position at;
    char *text; /* NULL: none */
};

struct values {
    const struct report *report;
    struct sight *look; /* in the order of the execution */
    size_t looks;
};

struct job {
    struct study *study;
    const struct criterion *criterion;
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

static void add_look(struct job *j, const struct slice_dependence *d)
{
    uint64_t insn = d->node == UINT64_MAX ? wanted_at(j, d) : d->node;
    if (d->kind != SLICE_CONTROL && insn != UINT64_MAX)
        j->out->look[j->out->looks++] =
            (struct sight){.flow = d, .insn = insn, .at = j->criterion->position};
}

static int list_looks(struct job *j, size_t rows, const struct slice_dependence *const *more,
                      size_t mores, struct err *err)
{
    const struct report *r = j->out->report;
    size_t shown = 0;
    j->out->look = malloc(sizeof *j->out->look * (r->rows + mores + 1));
    if (!j->out->look)
        return err_set(err, "no memory");
    for (size_t i = 0; i < r->rows && shown < rows; i++) {
        const struct report_row *row = &r->row[i];
        if (!is_shown(r, row))
            continue;
        shown++;
        if (row->edge != REPORT_NONE)
            add_look(j, &r->edge[row->edge].sample);
    }
    for (size_t i = 0; i < mores; i++)
        add_look(j, more[i]);
    qsort(j->out->look, j->out->looks, sizeof *j->out->look, by_insn);
    return 0;
}

/* Positions of the instructions that are looked at; what the criterion wants has one. */
static int find_positions(struct job *j, struct err *err)
{
    struct values *v = j->out;
    uint64_t *insn = malloc(sizeof *insn * (v->looks + 1));
    struct position *at = malloc(sizeof *at * (v->looks + 1));
    size_t inside = 0; /* that are not the end */
    for (size_t i = 0; insn && i < v->looks; i++)
        if ((insn[i] = v->look[i].insn) < trace_insns(j->study->trace))
            inside++;
    int bad =
        insn && at ? look_positions(j->study, insn, inside, at, err) : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < inside; i++)
        if (v->look[i].flow->node != UINT64_MAX)
            v->look[i].at = at[i];
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
        bool found = (d->on_pc && source_variable_typed(s, d->on_pc, &on, d->addr, bytes, unused,
                                                        sizeof unused, type)) ||
                     source_variable_typed(s, d->node_pc, &node, d->addr, bytes, unused,
                                           sizeof unused, type) ||
                     (d->on_pc && source_access(s, d->on_pc, bytes, unused, sizeof unused, type));
        if (!found && d->node != UINT64_MAX)
            source_access(s, d->node_pc, bytes, unused, sizeof unused, type);
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

/* -1: the replay failed, or there is no memory. */
static int see(struct job *j, struct past *past, struct sight *l, struct err *err)
{
    const struct slice_dependence *d = l->flow;
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
    l->text = malloc(VALUE_TEXT);
    if (!l->text)
        return err_set(err, "no memory");
    type_of(j, d, &type, &bytes);
    source_value_write(&type, value, bytes, l->text, VALUE_TEXT);
    return 0;
}

static bool same(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

static int come_to(struct job *j, struct past *past, size_t i, struct err *err)
{
    const struct sight *l = &j->out->look[i];
    bool end = l->insn == trace_insns(j->study->trace);
    bool there = i && (end ? l[-1].insn == l->insn : same(&l->at, &l[-1].at));
    return there ? 0 : past_go(past, l->insn, &l->at, err);
}

/* A replay that failed is begun anew behind the place, a few times. */
static int see_all(struct job *j, struct err *err)
{
    struct past *past = NULL;
    unsigned failures = 0;
    struct err why;
    for (size_t i = 0; i < j->out->looks; i++) {
        struct sight *l = &j->out->look[i];
        if (failures < FAILURES_MOST && !past)
            past = past_new(j->study, &why);
        if (past && !come_to(j, past, i, &why) && !see(j, past, l, &why))
            continue;
        failures += failures < FAILURES_MOST;
        past_free(past);
        past = NULL;
        free(l->text);
        if (!(l->text = strdup("(not read: the replay did not come there)")))
            return err_set(err, "no memory");
    }
    past_free(past);
    return 0;
}

/* ---- all of it ---- */

static int by_flow(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct sight *)a)->flow;
    uintptr_t y = (uintptr_t)((const struct sight *)b)->flow;
    return x < y ? -1 : x > y;
}

struct values *values_new(struct study *s, const struct report *r, const struct criterion *c,
                          size_t rows, const struct slice_dependence *const *more, size_t mores,
                          struct err *err)
{
    struct job j = {.study = s, .criterion = c};
    j.out = calloc(1, sizeof *j.out);
    j.registers = malloc(sizeof *j.registers);
    int bad = j.out && j.registers ? 0 : err_set(err, "no memory");
    if (!bad) {
        j.out->report = r;
        bad = list_looks(&j, rows, more, mores, err) || find_positions(&j, err) || see_all(&j, err);
    }
    free(j.registers);
    if (bad) {
        values_free(j.out);
        return NULL;
    }
    qsort(j.out->look, j.out->looks, sizeof *j.out->look, by_flow);
    return j.out;
}

void values_free(struct values *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->looks; i++)
        free(v->look[i].text);
    free(v->look);
    free(v);
}

const char *values_flowed(const struct values *v, const struct slice_dependence *d)
{
    const struct sight key = {.flow = d};
    const struct sight *l =
        v && v->looks ? bsearch(&key, v->look, v->looks, sizeof key, by_flow) : NULL;
    return l ? l->text : NULL;
}

const char *values_of(const struct values *v, int32_t edge)
{
    return v && edge >= 0 ? values_flowed(v, &v->report->edge[edge].sample) : NULL;
}
