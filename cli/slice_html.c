/* slice_html.c - a slice as a page.
 *
 * SPDX-License-Identifier: MIT
 *
 * One file that needs no other: the sources with the slice's lines marked. Plain HTML without
 * scripts: a dependence is a link, and the line it leads to lights up. Text from the recording or
 * from sources is escaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cli/slice_formats.h"

static const char head[] =
    "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>slice</title>\n<style>\n"
    "body { font: 14px sans-serif; margin: 2em; background: #fff; color: #222 }\n"
    "pre, table, .line { font: 13px monospace }\n"
    "td { padding: 0 1em 0 0; vertical-align: top }\n"
    ".line { white-space: pre-wrap; padding-left: 5em; text-indent: -5em; color: #999 }\n"
    ".in { color: #000; background: #fff6d6 }\n"
    ".criterion { background: #ffe0e0 }\n"
    ".line:target { background: #cfe8ff }\n"
    ".why { padding-left: 8em; font: 12px sans-serif; color: #555 }\n"
    ".across { color: #04a }\n"
    ".race { color: #b00; font-weight: bold }\n"
    "a { color: inherit }\n"
    "</style></head><body>\n";

struct page {
    const struct slice_print *p;
    FILE *f;
    const char **file; /* those of rows, in order of appearance */
    size_t files;
};

static void put(FILE *f, const char *text)
{
    plain_put(f, PLAIN_HTML, text);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_shown(const struct page *g, const struct report_row *r)
{
    return r->own || !g->p->report->others || r->distance == 0 || r->target;
}

static size_t file_number(const struct page *g, const char *file)
{
    size_t i = 0;
    while (i < g->files && g->file[i] != file)
        i++;
    return i;
}

/* Where a row is on the page: a line of a file, or itself. */
static void put_link(struct page *g, uint32_t row)
{
    const struct report_row *r = &g->p->report->row[row];
    char name[300];
    if (r->file) {
        fprintf(g->f, "<a href=\"#f%zu-%" PRIu32 "\">T%" PRIu32 " ", file_number(g, r->file),
                r->line, r->thread);
        put(g->f, base_name(r->file));
        fprintf(g->f, ":%" PRIu32 "</a>", r->line);
        return;
    }
    source_name(g->p->study->source, r->pc, name, sizeof name);
    fprintf(g->f, "<a href=\"#r%" PRIu32 "\">T%" PRIu32 " ", row, r->thread);
    put(g->f, name);
    fputs("</a>", g->f);
}

static void put_edge_text(struct page *g, const struct report_edge *e)
{
    char what[300];
    report_what(g->p->study, &e->sample, what, sizeof what);
    fputs(report_kind(e->sample.kind), g->f);
    fputc(' ', g->f);
    put(g->f, what);
    const char *value = values_of(g->p->values, (int32_t)(e - g->p->report->edge));
    if (value) {
        fputs(" = ", g->f);
        put(g->f, value);
    }
    if (e->race)
        fprintf(g->f, " <span class=\"race\">%s</span>", race_name(e->race));
}

static void put_rows(struct page *g)
{
    const struct report *r = g->p->report;
    fputs("<table>\n", g->f);
    for (size_t i = 0; i < r->rows; i++) {
        const struct report_row *row = &r->row[i];
        const char *text =
            row->file ? source_text(g->p->study->source, row->file, row->line) : NULL;
        if (!is_shown(g, row))
            continue;
        fprintf(g->f, "<tr id=\"r%zu\"><td>", i);
        put_link(g, (uint32_t)i);
        fputs("</td><td>", g->f);
        if (text)
            put(g->f, text + strspn(text, " \t"));
        fputs("</td><td>", g->f);
        if (row->edge == REPORT_NONE)
            fputs(row->distance == 0 ? "criterion" : "", g->f);
        else
            put_edge_text(g, &r->edge[row->edge]);
        fputs("</td></tr>\n", g->f);
    }
    fputs("</table>\n", g->f);
}

/* Under a line: what its rows depend on, and who depends on them. */
static void put_dependences(struct page *g, const char *file, uint32_t line)
{
    const struct report *r = g->p->report;
    for (int forward = 0; forward < 2; forward++)
        for (size_t i = 0; i < r->edges; i++) {
            const struct report_edge *e = &r->edge[i];
            const struct report_row *here = &r->row[forward ? e->on : e->row];
            uint32_t there = forward ? e->row : e->on;
            if (here->file != file || here->line != line || !is_shown(g, &r->row[there]))
                continue;
            bool across = here->thread != r->row[there].thread;
            fprintf(g->f, "<div class=\"why%s\">T%" PRIu32 " %s ", across ? " across" : "",
                    here->thread, forward ? "&rarr;" : "&larr;");
            put_edge_text(g, e);
            fputs(forward ? " for " : " from ", g->f);
            put_link(g, there);
            fputs("</div>\n", g->f);
        }
}

/* 0: not in the slice; 2: the criterion. */
static int mark_of(const struct page *g, const char *file, uint32_t line)
{
    const struct report *r = g->p->report;
    int mark = 0;
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].file == file && r->row[i].line == line)
            mark = r->row[i].distance == 0 || r->row[i].target ? 2 : mark ? mark : 1;
    return mark;
}

/* The first line of the slice from this one on; 0: there is none. */
static uint32_t next_line(const struct page *g, const char *file, uint32_t line)
{
    uint32_t next = 0;
    for (size_t i = 0; i < g->p->report->rows; i++) {
        const struct report_row *r = &g->p->report->row[i];
        if (r->file == file && r->line >= line && (!next || r->line < next))
            next = r->line;
    }
    return next;
}

static void put_file(struct page *g, size_t number)
{
    static const char *const classes[] = {"line", "line in", "line in criterion"};
    const char *file = g->file[number];
    fprintf(g->f, "<h2>");
    put(g->f, file);
    fprintf(g->f, "</h2>\n");
    /* Behind the end of the text, only lines of the slice: debug information may name any up to
     * 2^32. */
    for (uint32_t n = 1; n; n++) {
        const char *text = source_text(g->p->study->source, file, n);
        if (!text && !(n = next_line(g, file, n)))
            return;
        int mark = mark_of(g, file, n);
        fprintf(g->f, "<div class=\"%s\" id=\"f%zu-%" PRIu32 "\">%4" PRIu32 " ", classes[mark],
                number, n, n);
        put(g->f, text ? text : "");
        fputs("</div>\n", g->f);
        if (mark)
            put_dependences(g, file, n);
    }
}

static void put_note(struct page *g, const char *title, const char *text)
{
    if (!text[0])
        return;
    fprintf(g->f, "<p>%s", title);
    put(g->f, text);
    fputs("</p>\n", g->f);
}

static void put_page(struct page *g)
{
    const struct slice_print *p = g->p;
    fputs(head, g->f);
    char text[1024];
    fputs("<h1>", g->f);
    fputs(p->of->kind == SLICE_FORWARD ? "What depends on " : "", g->f);
    put(g->f, p->text);
    if (p->of->kind == SLICE_CHOP) {
        fputs(" to ", g->f);
        put(g->f, p->of->target_text);
    }
    fputs("</h1>\n<p>", g->f);
    put(g->f, p->criterion->what);
    fprintf(g->f,
            ": %" PRIu64 " of %" PRIu64 " instructions, %" PRIu64 " lines, %" PRIu64
            " threads</p>\n",
            p->report->full, trace_insns(p->study->trace), p->report->lines, p->report->threads);
    slice_print_pruned(p->of, text, sizeof text);
    put_note(g, "Pruned: ", text);
    slice_print_limits(p->of, text, sizeof text);
    put_note(g, "Shown: lines of ", text);
    put_rows(g);
    for (size_t i = 0; i < g->files; i++)
        put_file(g, i);
    fputs("</body></html>\n", g->f);
}

int slice_html_write(const struct slice_print *p, const char *path, struct err *err)
{
    struct page g = {.p = p, .file = malloc(sizeof *g.file * (p->report->rows + 1))};
    if (!g.file)
        return err_set(err, "no memory");
    g.f = study_create(p->study, path, err);
    if (!g.f) {
        free(g.file);
        return -1;
    }
    for (size_t i = 0; i < p->report->rows; i++) {
        const char *file = p->report->row[i].file;
        if (file && file_number(&g, file) == g.files)
            g.file[g.files++] = file;
    }
    put_page(&g);
    free(g.file);
    int bad = ferror(g.f);
    if (fclose(g.f) || bad)
        return err_set_code(err, errno, "%s: %s", path, strerror(errno));
    return 0;
}
