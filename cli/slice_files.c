/* slice_files.c - a slice in files, for other programs. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/plain.h"
#include "base/search.h"
#include "cli/slice_formats.h"
#include "slicer/report/instances.h"

static int finish(FILE *f, const char *path, struct err *err)
{
    int bad = ferror(f);
    if (fclose(f) || bad)
        return err_set_code(err, errno, "%s: %s", path, strerror(errno));
    return 0;
}

/* A name that stays on its line. */
static void put_name(FILE *f, const char *text)
{
    plain_put(f, PLAIN_TEXT, text);
}

static void put_place(FILE *f, const struct slice_print *p, const struct report_row *r)
{
    char name[300];
    if (r->file) {
        put_name(f, r->file);
        fprintf(f, ":%" PRIu32, r->line);
        return;
    }
    source_name(p->study->source, r->pc, name, sizeof name);
    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    put_name(f, name);
}

/* ---- statements ---- */

static bool same_statement(const struct report_row *a, const struct report_row *b)
{
    return a->file ? a->file == b->file && a->line == b->line : !b->file && a->pc == b->pc;
}

/* The instances of a row, in order; nodes of one follow each other mostly, not always. */
static void put_instances(FILE *f, const uint32_t *instance, const uint64_t *next, uint64_t first,
                          uint32_t thread)
{
    uint32_t last = 0;
    bool any = false;
    for (uint64_t i = first; i != UINT64_MAX; i = next[i]) {
        if (any && instance[i] <= last)
            continue;
        fprintf(f, " %" PRIu32 ":%" PRIu32, thread, instance[i]);
        last = instance[i];
        any = true;
    }
}

/* `FILE:LINE # THREAD:INSTANCE ...`, a line for each statement. */
int slice_files_sum(const struct slice_print *p, const char *path, struct err *err)
{
    const struct report *r = p->report;
    uint32_t *instance = instances_find(p->study, r, err);
    uint64_t *first = malloc(sizeof *first * (r->rows + 1));
    uint64_t *next = malloc(sizeof *next * (r->nodes + 1));
    FILE *f = instance && first && next ? study_create(p->study, path, err) : NULL;
    if (instance && !(first && next))
        err_set(err, "no memory");
    if (f) {
        memset(first, 0xff, sizeof *first * (r->rows + 1));
        for (uint64_t i = r->nodes; i-- > 0;) {
            next[i] = first[r->node[i].row];
            first[r->node[i].row] = i;
        }
        for (size_t i = 0; i < r->rows; i++) {
            size_t k = 0;
            while (k < i && !(r->row[k].nodes && same_statement(&r->row[k], &r->row[i])))
                k++;
            if (k < i || !r->row[i].nodes)
                continue; /* printed with the first of its rows */
            put_place(f, p, &r->row[i]);
            fputs(" #", f);
            for (k = i; k < r->rows; k++)
                if (same_statement(&r->row[k], &r->row[i]))
                    put_instances(f, instance, next, first[k], r->row[k].thread);
            fputc('\n', f);
        }
    }
    free(instance);
    free(first);
    free(next);
    return f ? finish(f, path, err) : -1;
}

/* ---- dependences ---- */

struct dependence {
    uint32_t row, instance, on, on_instance;
    uint64_t addr, bytes;
    uint32_t kind; /* 0: free; 1: register; 2: memory; 3: control */
    enum race race;
};

struct dep_writer {
    const struct slice_print *p;
    const uint32_t *instance;
    struct dependence *seen; /* open addressing */
    size_t room, used;
    FILE *f;
    struct err *err;
};

/* Not one of base/table.h: all of it is the key. */
static size_t hash(const struct dependence *d)
{
    uint64_t h = hash_fold(0, (uint64_t)d->row << 32 | d->on);
    h = hash_fold(h ^ h >> 32, (uint64_t)d->instance << 32 | d->on_instance);
    h = hash_fold(h ^ h >> 32, d->addr);
    return (size_t)(hash_fold(h ^ h >> 32, d->bytes << 2 ^ d->kind) >> 32);
}

static bool equal(const struct dependence *a, const struct dependence *b)
{
    return a->row == b->row && a->on == b->on && a->instance == b->instance &&
           a->on_instance == b->on_instance && a->addr == b->addr && a->bytes == b->bytes &&
           a->kind == b->kind && a->race == b->race;
}

static bool grow(struct dep_writer *w)
{
    size_t room = w->room ? 2 * w->room : 1024;
    struct dependence *list = calloc(room, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < w->room; i++) {
        if (!w->seen[i].kind)
            continue;
        size_t k = hash(&w->seen[i]) & (room - 1);
        while (list[k].kind)
            k = (k + 1) & (room - 1);
        list[k] = w->seen[i];
    }
    free(w->seen);
    w->seen = list;
    w->room = room;
    return true;
}

/* 1: it is new, 0: it was there, -1. */
static int note(struct dep_writer *w, const struct dependence *d)
{
    if (2 * w->used >= w->room && !grow(w))
        return err_set(w->err, "no memory");
    size_t k = hash(d) & (w->room - 1);
    for (; w->seen[k].kind; k = (k + 1) & (w->room - 1))
        if (equal(&w->seen[k], d))
            return 0;
    w->seen[k] = *d;
    w->used++;
    return 1;
}

static uint64_t node_at(const struct report *r, uint64_t insn)
{
    const uint64_t i = search_below(r->node, r->nodes, insn, insn);
    return i < r->nodes && r->node[i].insn == insn ? i : UINT64_MAX;
}

static void put_instance(struct dep_writer *w, uint32_t row, uint32_t instance)
{
    const struct report_row *r = &w->p->report->row[row];
    fprintf(w->f, "%" PRIu32 " ", r->thread);
    put_place(w->f, w->p, r);
    fprintf(w->f, " %" PRIu32, instance);
}

static int put_edge(void *arg, const struct slice_dependence *d)
{
    struct dep_writer *w = arg;
    const struct report *r = w->p->report;
    uint64_t node = node_at(r, d->node), on = node_at(r, d->on);
    if (node == UINT64_MAX || on == UINT64_MAX || report_is_idle(d, r->node[node].reads_flags))
        return 0;
    struct dependence x = {.row = r->node[node].row,
                           .instance = w->instance[node],
                           .on = r->node[on].row,
                           .on_instance = w->instance[on],
                           .addr = d->addr,
                           .bytes = d->bytes,
                           .kind = d->kind == SLICE_CONTROL ? 3
                                   : d->memory              ? 2
                                                            : 1};
    if (x.row == x.on && x.instance == x.on_instance)
        return 0;
    if (marks_race(w->p->study, d, &x.race, w->err))
        return -1;
    int is_new = note(w, &x);
    if (is_new <= 0)
        return is_new;
    put_instance(w, x.row, x.instance);
    fputs(" <- ", w->f);
    put_instance(w, x.on, x.on_instance);
    char name[64];
    loc_name((struct loc_span){.first = d->addr & 0xfff, .count = d->bytes & 0xfff}, name,
             sizeof name);
    if (x.kind == 3)
        fputs("  control\n", w->f);
    else if (x.kind == 2)
        fprintf(w->f, "  0x%" PRIx64 " %" PRIu64 "%s%s\n", d->addr, d->bytes, x.race ? " " : "",
                race_name(x.race));
    else
        fprintf(w->f, "  %%%s\n", name);
    return 0;
}

/* `THREAD FILE:LINE INSTANCE <- THREAD FILE:LINE INSTANCE  WHAT`, a line for each dependence
 * between instances of statements. WHAT is `%REG`, `ADDRESS SIZE` or `control`. */
int slice_files_dep(const struct slice_print *p, const char *path, struct err *err)
{
    const struct slice_options *o = &p->of->options;
    struct dep_writer w = {.p = p, .err = err};
    uint32_t *instance = instances_find(p->study, p->report, err);
    w.instance = instance;
    w.f = instance ? study_create(p->study, path, err) : NULL;
    const struct slice_ends ends = {.from = p->criterion->want,
                                    .to = p->of->target.want,
                                    .froms = p->criterion->wants,
                                    .tos = p->of->target.wants};
    int bad =
        !w.f ? -1
        : p->of->kind == SLICE_BACKWARD
            ? slice_edges(p->study->index, p->slice, ends.from, ends.froms, o, put_edge, &w, err)
            : slice_edges_between(p->study->index, p->slice, &ends, o, put_edge, &w, err);
    if (w.f && finish(w.f, path, bad ? NULL : err))
        bad = -1;
    free(instance);
    free(w.seen);
    return bad ? -1 : 0;
}

/* ---- a graph ---- */

static void put_quoted(FILE *f, const char *text, size_t most)
{
    char one[PLAIN_ONE];
    for (size_t n = strlen(text), took; n && most; text += took, n -= took, most--) {
        took = plain_one(PLAIN_DOT, text, n, one);
        fputs(one, f);
    }
}

static void put_dot_row(FILE *f, const struct slice_print *p, size_t i)
{
    const struct report_row *r = &p->report->row[i];
    const char *text = r->file ? source_text(p->study->source, r->file, r->line) : NULL;
    const char *slash = r->file ? strrchr(r->file, '/') : NULL;
    char name[300];
    source_name(p->study->source, r->pc, name, sizeof name);
    fprintf(f, "  n%zu [label=\"T%" PRIu32 " ", i, r->thread);
    if (r->file) {
        put_quoted(f, slash ? slash + 1 : r->file, 200);
        fprintf(f, ":%" PRIu32, r->line);
    } else {
        if (r->left_out)
            report_left_out(r, name, sizeof name);
        put_quoted(f, name, 200);
    }
    if (text) {
        fputs("\\n", f);
        put_quoted(f, text + strspn(text, " \t"), 60);
    }
    fprintf(f, "\"%s];\n", r->distance == 0 || r->target ? ", style=bold" : "");
}

static bool is_shown(const struct report *r, const struct report_row *row)
{
    return row->own || !r->others || row->distance == 0 || row->target;
}

/* A graph of lines for Graphviz. */
int slice_files_dot(const struct slice_print *p, const char *path, struct err *err)
{
    const struct report *r = p->report;
    FILE *f = study_create(p->study, path, err);
    if (!f)
        return -1;
    fputs("digraph slice {\n  node [shape=box, fontname=monospace, fontsize=10];\n"
          "  edge [fontname=monospace, fontsize=9];\n",
          f);
    for (size_t i = 0; i < r->rows; i++)
        if (is_shown(r, &r->row[i]))
            put_dot_row(f, p, i);
    for (size_t i = 0; i < r->edges; i++) {
        const struct report_edge *e = &r->edge[i];
        const struct report_row *a = &r->row[e->row], *b = &r->row[e->on];
        char what[300];
        if (!is_shown(r, a) || !is_shown(r, b))
            continue;
        report_what(p->study, &e->sample, what, sizeof what);
        fprintf(f, "  n%" PRIu32 " -> n%" PRIu32 " [label=\"", e->row, e->on);
        put_quoted(f, what, 60);
        if (e->race)
            fprintf(f, ", %s", race_name(e->race));
        fprintf(f, "\"%s%s];\n",
                e->kinds & SLICE_VALUE     ? ""
                : e->kinds & SLICE_ADDRESS ? ", style=dashed"
                                           : ", style=dotted",
                e->race == RACE_CERTAIN  ? ", color=red, penwidth=2"
                : e->race == RACE_MAYBE  ? ", color=orange, penwidth=2"
                : a->thread != b->thread ? ", color=blue"
                                         : "");
    }
    fputs("}\n", f);
    return finish(f, path, err);
}
