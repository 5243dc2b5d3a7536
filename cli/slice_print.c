/* slice_print.c - a slice on standard output.
 *
 * SPDX-License-Identifier: MIT
 *
 * Text of sources and names of variables go to the terminal through base/plain.h.
 */
#include "cli/slice_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cli/slice_formats.h"
#include "cli/slice_text.h"
#include "pinball/pinball.h"
#include "source/variable.h"

enum { WHAT_ROOM = 300, RACES_SHOWN = 10, KIND_WIDTH = 9 };

/* Why the row is there. */
static void why_text(const struct slice_print *p, const struct report_row *r, char *out)
{
    char what[WHAT_ROOM];
    out[0] = 0;
    if (r->edge == REPORT_NONE)
        return;
    const struct report_edge *e = &p->report->edge[r->edge];
    const struct slice_dependence *d = &e->sample;
    report_what(p->study, d, what, sizeof what);
    const char *value = values_of(p->values, r->edge);
    if (value) {
        size_t n = strlen(what);
        snprintf(what + n, sizeof what - n, "%s%s", n ? " = " : "", value);
    }
    if (d->node_thread == d->on_thread || d->node == UINT64_MAX || d->on == UINT64_MAX)
        snprintf(out, WHAT_ROOM, "%s", what);
    else if (p->report->forward)
        snprintf(out, WHAT_ROOM, "%.200s%sby T%" PRIu32 "%s%s", what, what[0] ? ", " : "",
                 trace_thread(p->study->trace, d->on_thread), e->race ? ", " : "",
                 race_name(e->race));
    else
        snprintf(out, WHAT_ROOM, "%.200s%sread by T%" PRIu32 "%s%s", what, what[0] ? ", " : "",
                 trace_thread(p->study->trace, d->node_thread), e->race ? ", " : "",
                 race_name(e->race));
}

static const char *kind_text(const struct report *r, const struct report_row *row)
{
    if (row->edge != REPORT_NONE)
        return report_kind(r->edge[row->edge].sample.kind);
    return row->distance == 0 ? "criterion" : "";
}

/* ---- what was asked for ---- */

const char *slice_print_kind(enum slice_kind kind)
{
    static const char *const name[] = {"backward", "forward", "chop"};
    return name[kind];
}

static void append(char *out, size_t room, const char *kind, const char *word)
{
    size_t used = strlen(out);
    snprintf(out + used, room - used, "%s%s%s", used ? ", " : "", kind, word);
}

void slice_print_pruned(const struct saved *of, char *out, size_t room)
{
    out[0] = 0;
    for (size_t i = 0; i < of->pruning.words; i++)
        append(out, room, "", of->pruning.word[i]);
}

void slice_print_limits(const struct saved *of, char *out, size_t room)
{
    const struct report_limits *l = &of->limits;
    char number[16];
    out[0] = 0;
    for (size_t i = 0; i < l->threads; i++) {
        snprintf(number, sizeof number, "%" PRIu32, l->thread[i]);
        append(out, room, "thread ", number);
    }
    for (size_t i = 0; i < l->files; i++)
        append(out, room, "file ", l->file[i]);
    for (size_t i = 0; i < l->modules; i++)
        append(out, room, "module ", l->module[i]);
}

/* ---- for people ---- */

static void print_criterion(const struct slice_print *p, const char *title,
                            const struct criterion *c)
{
    struct source_line l;
    char name[SLICE_TEXT_PLACE];
    if (study_line(p->study, c->pc, &l))
        snprintf(name, sizeof name, "%.200s:%" PRIu32, slice_text_base(l.file), l.line);
    else
        source_name(p->study->source, c->pc, name, sizeof name);
    plain_printf(stdout, "%-9s  T%" PRIu32 " %s  %s%s%s\n", title,
                 trace_thread(p->study->trace, c->thread), name, c->what, c->note[0] ? ", " : "",
                 c->note);
}

void slice_print_first(const struct slice_print *p)
{
    print_criterion(p, "criterion", p->criterion);
    if (p->of->kind == SLICE_CHOP)
        print_criterion(p, "to", &p->of->target);
    if (p->story)
        slice_story_print(p);
}

static void print_head(const struct slice_print *p)
{
    static const char *const title[] = {"slice", "forward", "chop"};
    const struct report *r = p->report;
    struct slice_figures figures;
    slice_figures(p->slice, &figures);
    if (!p->told)
        slice_print_first(p);
    printf("%-9s  %" PRIu64 " of %" PRIu64 " instructions, %" PRIu64 " line%s, %" PRIu64
           " thread%s\n",
           title[p->of->kind], r->full, trace_insns(p->study->trace), r->lines,
           r->lines == 1 ? "" : "s", r->threads, r->threads == 1 ? "" : "s");
    if (figures.stopped)
        printf("stopped    by Ctrl-C: only the last %" PRIu64 " instructions were looked at\n",
               trace_insns(p->study->trace) - figures.from);
    if (r->bare)
        printf(
            "order      only the last %d M of them tell of dependences; other lines by their last "
            "execution\n",
            REPORT_LAST / 1000000);
}

/* Instructions that belong to no line of the user's are not shown if there are such lines; what the
 * recording leaves out may be the user's. */
const struct report_row **slice_print_rows(const struct slice_print *p, size_t *count)
{
    const struct report *r = p->report;
    const struct report_row **list = malloc(sizeof *list * (r->rows + 1));
    *count = 0;
    for (size_t i = 0; list && i < r->rows; i++)
        if (r->row[i].own || r->row[i].left_out || !r->others || r->row[i].distance == 0 ||
            r->row[i].target)
            list[(*count)++] = &r->row[i];
    return list;
}

static void print_row(const struct slice_print *p, const struct report_row *row,
                      const struct report_row *before, size_t place_width, size_t text_width)
{
    char place[SLICE_TEXT_PLACE], text[SLICE_TEXT_LINE], what[WHAT_ROOM];
    slice_text_place(row, before, place);
    slice_text_line(p->study, row, text_width, text, sizeof text);
    why_text(p, row, what);
    printf("  ");
    slice_text_padded(place, place_width);
    printf("  ");
    slice_text_padded(text, text_width);
    printf("  ");
    slice_text_padded(kind_text(p->report, row), what[0] ? KIND_WIDTH : 0);
    plain_printf(stdout, "%s\n", what);
}

static void print_rows(const struct slice_print *p)
{
    size_t rows, place_width = 0, why_width = 0, text_width = 0;
    char place[SLICE_TEXT_PLACE], text[SLICE_TEXT_LINE], why[WHAT_ROOM];
    const struct report_row **row = slice_print_rows(p, &rows);
    size_t n = rows < p->lines ? rows : p->lines;
    for (size_t i = 0; row && i < n; i++) {
        slice_text_place(row[i], i ? row[i - 1] : NULL, place);
        why_text(p, row[i], why);
        place_width = plain_width(place) > place_width ? plain_width(place) : place_width;
        why_width = plain_width(why) > why_width ? plain_width(why) : why_width;
    }
    size_t most = slice_text_width(2 + place_width + 2 + 2 + KIND_WIDTH + why_width);
    for (size_t i = 0; row && i < n; i++) {
        slice_text_line(p->study, row[i], most, text, sizeof text);
        text_width = plain_width(text) > text_width ? plain_width(text) : text_width;
    }
    for (size_t i = 0; row && i < n; i++)
        print_row(p, row[i], i ? row[i - 1] : NULL, place_width, text_width);
    if (n < rows)
        printf("  ... %zu more lines; `--lines %zu` shows them\n", rows - n, rows);
    free(row);
}

static void print_libraries(const struct report *r)
{
    if (r->others)
        printf("libraries  %zu function%s that no line above called, such as the loader's; `--all` "
               "shows them\n",
               r->others, r->others == 1 ? "" : "s");
}

static bool is_shown(const struct report *r, const struct report_row *row)
{
    return row->own || !r->others || row->distance == 0;
}

/* Races that are not the reason why their row is there. */
static void print_races(const struct slice_print *p)
{
    const struct report *r = p->report;
    size_t more = 0, told = 0;
    for (size_t i = 0; i < r->edges; i++) {
        const struct report_edge *e = &r->edge[i];
        const struct report_row *row = &r->row[e->row], *on = &r->row[e->on];
        char place[SLICE_TEXT_PLACE], from[SLICE_TEXT_PLACE], what[WHAT_ROOM];
        if (!e->race || (r->forward ? row : on)->edge == (int32_t)i || !is_shown(r, row) ||
            !is_shown(r, on))
            continue;
        if (told == RACES_SHOWN) {
            more++;
            continue;
        }
        slice_text_place(row, NULL, place);
        slice_text_place(on, row, from);
        report_what(p->study, &e->sample, what, sizeof what);
        plain_printf(stdout, "%s  %s reads %s of %s, %s\n", told++ ? "         " : "also     ",
                     place, what, from, race_name(e->race));
    }
    if (more)
        printf("           ... %zu more; --json lists them\n", more);
}

static void print_nodes(const struct slice_print *p)
{
    const struct report *r = p->report;
    char token[POSITION_TEXT], name[SLICE_TEXT_PLACE];
    for (uint64_t i = r->nodes; i-- > 0;) {
        const struct report_node *n = &r->node[i];
        struct position at = {.thread = n->thread, .count = n->count, .pc = n->pc};
        position_format(&at, token);
        source_name(p->study->source, n->pc, name, sizeof name);
        printf("  %-28s ", token);
        slice_text_padded(name, n->kinds ? 40 : 0);
        printf("%s%s\n", n->kinds ? " " : "", report_kind(n->kinds));
    }
}

/* Files that are not what was recorded any more: what is shown of them may be other lines. */
static void print_changed(const struct slice_print *p)
{
    const struct report *r = p->report;
    const char *told[8];
    size_t n = 0;
    for (size_t i = 0; i < r->rows && n < sizeof told / sizeof *told; i++) {
        const char *file = r->row[i].own ? r->row[i].file : NULL;
        bool known = !file;
        for (size_t k = 0; !known && k < n; k++)
            known = strcmp(told[k], file) == 0;
        if (known || !study_text_changed(p->study, file))
            continue;
        const char *slash = strrchr(file, '/');
        plain_printf(stdout, "%s%s", n ? ", " : "changed    ", slash ? slash + 1 : file);
        told[n++] = file;
    }
    if (n)
        puts(" since this was recorded: the lines shown may be others");
}

enum { BEFORE_NAMES = 8 };

/* A variable, or so many bytes that are none. Returns how many bytes it told. */
static uint64_t name_before(const struct slice_print *p, gaddr addr, uint64_t bytes, char *out,
                            size_t room)
{
    for (uint64_t n = bytes < 8 ? bytes : 8; n; n /= 2)
        if (source_variable(p->study->source, p->criterion->pc, NULL, addr, n, out, room))
            return n;
    snprintf(out, room, "%" PRIu64 " byte%s at 0x%" PRIx64, bytes, bytes == 1 ? "" : "s", addr);
    return bytes;
}

/* The walk has come to the begin of a part of a run with something in its hands. */
static void print_before(const struct slice_print *p)
{
    struct slice_figures f;
    char name[256], last[256] = "";
    size_t names = 0;
    slice_figures(p->slice, &f);
    if (p->of->kind != SLICE_BACKWARD || !f.befores || !pinball_is_part(p->study->pinball))
        return;
    const size_t known = f.befores < SLICE_BEFORE ? f.befores : SLICE_BEFORE;
    for (size_t i = 0; i < known; i++)
        for (uint64_t at = 0; at < f.before[i].bytes;) {
            at += name_before(p, f.before[i].addr + at, f.before[i].bytes - at, name, sizeof name);
            if (!strcmp(name, last))
                continue;
            snprintf(last, sizeof last, "%s", name);
            if (names < BEFORE_NAMES)
                plain_printf(stdout, "%s%s", names ? ", " : "before     ", name);
            names++;
        }
    if (names > BEFORE_NAMES || f.befores > known)
        printf(" and more");
    puts(": set before the recorded part begins");
}

/* How it was narrowed. */
static void print_foot(const struct slice_print *p)
{
    struct slice_figures figures;
    char text[1024];
    slice_figures(p->slice, &figures);
    print_before(p);
    if (figures.pairs)
        printf("pruned     %" PRIu64 " save/restore pair%s\n", figures.pairs,
               figures.pairs == 1 ? "" : "s");
    for (size_t i = 0; p->sets && i < p->sets->terms; i++)
        plain_printf(stdout, "with       %s %s\n", sets_option(p->sets->term[i].how),
                     p->sets->term[i].text);
    slice_print_pruned(p->of, text, sizeof text);
    if (text[0])
        plain_printf(stdout, "pruned     %s\n", text);
    slice_print_limits(p->of, text, sizeof text);
    if (text[0])
        plain_printf(stdout, "limited    %" PRIu64 " of these %" PRIu64 " instructions are of %s\n",
                     p->report->nodes, p->report->full, text);
}

int slice_print_text(const struct slice_print *p, const char *path, struct err *err)
{
    static const char *const nothing[] = {"Nothing that was executed made it.\n",
                                          "Nothing depends on it.\n",
                                          "Nothing leads from the one to the other.\n"};
    (void)path;
    (void)err;
    print_head(p);
    bool empty = !p->report->full && !p->report->edges;
    if (p->all)
        print_nodes(p);
    else if (p->story || p->told)
        slice_story_rest(p);
    else if (!empty || p->of->kind == SLICE_BACKWARD)
        print_rows(p);
    if (!p->all)
        print_libraries(p->report);
    if (empty)
        fputs(nothing[p->of->kind], stdout);
    if (!p->all && !p->story && !p->told)
        print_races(p);
    print_foot(p);
    print_changed(p);
    if (p->again[0])
        plain_printf(stdout, "again      %s\n", p->again);
    return 0;
}
