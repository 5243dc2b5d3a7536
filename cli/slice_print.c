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
#include "cli/json.h"
#include "cli/slice_formats.h"

enum { TEXT_WIDTH = 50, PLACE_ROOM = 300, WHAT_ROOM = 300, RACES_SHOWN = 10 };

/* ---- pieces of text ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void padded(const char *text, size_t columns)
{
    plain_put(stdout, PLAIN_TEXT, text);
    for (size_t n = plain_width(text); n < columns; n++)
        putchar(' ');
}

/* `T2 racy_counter.c:31`, without the file if it is that of the row before. */
static void place_text(const struct report_row *r, const struct report_row *before, char *out)
{
    bool same = before && before->file == r->file;
    if (r->file)
        snprintf(out, PLACE_ROOM, "T%" PRIu32 " %.200s:%" PRIu32, r->thread,
                 same ? "" : base_name(r->file), r->line);
    else
        snprintf(out, PLACE_ROOM, "T%" PRIu32, r->thread);
}

/* Cuts what is safe to print to the width of the column. */
static void cut(char *text, size_t room)
{
    if (plain_width(text) <= TEXT_WIDTH)
        return;
    size_t columns = 0, i = 0;
    for (; text[i] && columns < TEXT_WIDTH - 3; i++)
        columns += ((unsigned char)text[i + 1] & 0xc0) != 0x80;
    snprintf(text + i, room - i, "...");
}

/* The line's text without its indentation, in one space each, cut to fit. */
static void line_text(struct study *s, const struct report_row *r, char *out, size_t room)
{
    char line[400];
    const char *text = r->file ? source_text(s->source, r->file, r->line) : NULL;
    size_t n = 0;
    if (!text) {
        if (r->file && r->function)
            snprintf(out, room, "in %s", r->function);
        else
            source_name(s->source, r->pc, out, room);
        return;
    }
    for (text += strspn(text, " \t"); *text && n + 1 < sizeof line; text++) {
        bool blank = *text == ' ' || *text == '\t' || *text == '\r';
        if (!blank || (n && line[n - 1] != ' '))
            line[n++] = blank ? ' ' : *text;
    }
    while (n && line[n - 1] == ' ')
        n--;
    line[n] = 0;
    plain_copy(line, out, room);
    cut(out, room);
}

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
    char name[PLACE_ROOM];
    if (study_line(p->study, c->pc, &l))
        snprintf(name, sizeof name, "%.200s:%" PRIu32, base_name(l.file), l.line);
    else
        source_name(p->study->source, c->pc, name, sizeof name);
    plain_printf(stdout, "%-9s  T%" PRIu32 " %s  %s%s%s\n", title,
                 trace_thread(p->study->trace, c->thread), name, c->what, c->note[0] ? ", " : "",
                 c->note);
}

static void print_head(const struct slice_print *p)
{
    static const char *const title[] = {"slice", "forward", "chop"};
    const struct report *r = p->report;
    print_criterion(p, "criterion", p->criterion);
    if (p->of->kind == SLICE_CHOP)
        print_criterion(p, "to", &p->of->target);
    printf("%-9s  %" PRIu64 " of %" PRIu64 " instructions, %" PRIu64 " line%s, %" PRIu64
           " thread%s\n",
           title[p->of->kind], r->full, trace_insns(p->study->trace), r->lines,
           r->lines == 1 ? "" : "s", r->threads, r->threads == 1 ? "" : "s");
    if (r->bare)
        printf(
            "order      by the last execution: dependences between lines are told for up to %d M "
            "instructions\n",
            REPORT_MOST / 1000000);
}

/* Instructions that belong to no line of the user's are left out if there are such lines. */
static const struct report_row **pick_rows(const struct slice_print *p, size_t *count)
{
    const struct report *r = p->report;
    const struct report_row **list = malloc(sizeof *list * (r->rows + 1));
    *count = 0;
    for (size_t i = 0; list && i < r->rows; i++)
        if (r->row[i].own || !r->others || r->row[i].distance == 0 || r->row[i].target)
            list[(*count)++] = &r->row[i];
    return list;
}

static void print_row(const struct slice_print *p, const struct report_row *row,
                      const struct report_row *before, size_t place_width, size_t text_width)
{
    char place[PLACE_ROOM], text[400], what[WHAT_ROOM];
    place_text(row, before, place);
    line_text(p->study, row, text, sizeof text);
    why_text(p, row, what);
    printf("  ");
    padded(place, place_width);
    printf("  ");
    padded(text, text_width);
    printf("  ");
    padded(kind_text(p->report, row), what[0] ? 9 : 0);
    plain_printf(stdout, "%s\n", what);
}

static void print_rows(const struct slice_print *p)
{
    size_t rows, place_width = 0, text_width = 0;
    char place[PLACE_ROOM], text[400];
    const struct report_row **row = pick_rows(p, &rows);
    size_t n = rows < p->lines ? rows : p->lines;
    for (size_t i = 0; row && i < n; i++) {
        place_text(row[i], i ? row[i - 1] : NULL, place);
        line_text(p->study, row[i], text, sizeof text);
        place_width = plain_width(place) > place_width ? plain_width(place) : place_width;
        text_width = plain_width(text) > text_width ? plain_width(text) : text_width;
    }
    for (size_t i = 0; row && i < n; i++)
        print_row(p, row[i], i ? row[i - 1] : NULL, place_width, text_width);
    if (n < rows)
        printf("  ... %zu more lines; `--lines %zu` shows them\n", rows - n, rows);
    if (p->report->others)
        printf("libraries  %zu function%s that no line above called, such as the loader's; `--all` "
               "shows them\n",
               p->report->others, p->report->others == 1 ? "" : "s");
    free(row);
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
        char place[PLACE_ROOM], from[PLACE_ROOM], what[WHAT_ROOM];
        if (!e->race || (r->forward ? row : on)->edge == (int32_t)i || !is_shown(r, row) ||
            !is_shown(r, on))
            continue;
        if (told == RACES_SHOWN) {
            more++;
            continue;
        }
        place_text(row, NULL, place);
        place_text(on, row, from);
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
    char token[POSITION_TEXT], name[PLACE_ROOM];
    for (uint64_t i = r->nodes; i-- > 0;) {
        const struct report_node *n = &r->node[i];
        struct position at = {.thread = n->thread, .count = n->count, .pc = n->pc};
        position_format(&at, token);
        source_name(p->study->source, n->pc, name, sizeof name);
        printf("  %-28s ", token);
        padded(name, n->kinds ? 40 : 0);
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

/* How it was narrowed. */
static void print_foot(const struct slice_print *p)
{
    struct slice_figures figures;
    char text[1024];
    slice_figures(p->slice, &figures);
    if (figures.pairs)
        printf("pruned     %" PRIu64 " save/restore pair%s\n", figures.pairs,
               figures.pairs == 1 ? "" : "s");
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
    else if (!empty || p->of->kind == SLICE_BACKWARD)
        print_rows(p);
    if (empty)
        fputs(nothing[p->of->kind], stdout);
    if (!p->all)
        print_races(p);
    print_foot(p);
    print_changed(p);
    return 0;
}

/* ---- for programs ---- */

static void json_position(const char *key, const struct position *at)
{
    char token[POSITION_TEXT];
    position_format(at, token);
    printf(", \"%s\": \"%s\"", key, token);
}

static void json_member(const char *key, const char *value)
{
    printf(", \"%s\": ", key);
    json_string(value);
}

static void json_kinds(unsigned kinds)
{
    const char *comma = "";
    fputs("\"kinds\": [", stdout);
    for (unsigned k = SLICE_VALUE; k <= SLICE_CONTROL; k <<= 1)
        if (kinds & k) {
            printf("%s\"%s\"", comma, report_kind(k));
            comma = ", ";
        }
    putchar(']');
}

static void json_row(const struct slice_print *p, const struct report_row *r)
{
    char name[PLACE_ROOM];
    source_name(p->study->source, r->pc, name, sizeof name);
    printf("{\"thread\": %" PRIu32, r->thread);
    json_member("file", r->file);
    printf(", \"line\": %" PRIu32, r->line);
    json_member("function", r->function);
    json_member("module", r->module);
    json_member("name", name);
    json_member("text", r->file ? source_text(p->study->source, r->file, r->line) : NULL);
    printf(", \"instances\": %" PRIu64, r->nodes);
    if (r->nodes) {
        json_position("first", &r->first_at);
        json_position("last", &r->last_at);
    }
    if (r->distance != UINT32_MAX)
        printf(", \"distance\": %" PRIu32, r->distance);
    if (r->edge != REPORT_NONE)
        printf(", \"edge\": %" PRId32, r->edge);
    printf(", \"own\": %s", r->own ? "true" : "false");
    if (r->target)
        fputs(", \"target\": true", stdout);
    printf(", \"criterion\": %s}", r->distance == 0 ? "true" : "false");
}

static void json_edge(const struct slice_print *p, int32_t number)
{
    const struct report_edge *e = &p->report->edge[number];
    const char *value = values_of(p->values, number);
    const struct slice_dependence *d = &e->sample;
    char what[WHAT_ROOM];
    report_what(p->study, d, what, sizeof what);
    printf("{\"line\": %" PRIu32 ", \"on\": %" PRIu32 ", ", e->row, e->on);
    json_kinds(e->kinds);
    bool nodes = d->node != UINT64_MAX && d->on != UINT64_MAX;
    printf(", \"count\": %" PRIu64 ", \"across_threads\": %s", e->count,
           d->node_thread != d->on_thread && nodes ? "true" : "false");
    json_member("race", e->race ? race_name(e->race) : NULL);
    json_member("what", what);
    if (value)
        json_member("value", value);
    if (d->kind != SLICE_CONTROL && d->memory)
        printf(", \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64, d->addr, d->bytes);
    putchar('}');
}

static void json_nodes(const struct slice_print *p)
{
    for (uint64_t i = 0; i < p->report->nodes; i++) {
        const struct report_node *n = &p->report->node[i];
        struct position at = {.thread = n->thread, .count = n->count, .pc = n->pc};
        printf("%s\n    {\"line\": %" PRIu32, i ? "," : "", n->row);
        json_position("position", &at);
        fputs(", ", stdout);
        json_kinds(n->kinds);
        putchar('}');
    }
}

/* Where a thread's last node was. */
struct step {
    uint32_t thread, row;
    gaddr pc;
};

/* Does the node begin a statement? One does where its thread comes to another row, or back to the
 * begin of a loop in the same one. */
static bool begins(struct study *s, struct step *list, size_t *count, const struct report_node *n)
{
    struct source_line l;
    size_t i = 0;
    while (i < *count && list[i].thread != n->thread)
        i++;
    bool known = i < *count;
    bool same = known && list[i].row == n->row;
    bool own = study_line(s, n->pc, &l); /* else it counts to the row, in whatever order */
    bool back = same && own && n->pc <= list[i].pc;
    list[i].pc = own ? n->pc : same ? list[i].pc : 0;
    list[i].thread = n->thread;
    list[i].row = n->row;
    *count += !known;
    return !same || back;
}

/* Rows that the text shows, one for each time that a thread came there. */
static void json_steps(const struct slice_print *p)
{
    const struct report *r = p->report;
    const char *comma = "";
    size_t known = 0;
    struct step *list = calloc(trace_threads(p->study->trace) + 1, sizeof *list);
    for (uint64_t i = 0; list && i < r->nodes; i++) {
        const struct report_node *n = &r->node[i];
        struct position at = {.thread = n->thread, .count = n->count, .pc = n->pc};
        if (!begins(p->study, list, &known, n) || (r->others && !r->row[n->row].own))
            continue;
        printf("%s\n    {\"line\": %" PRIu32, comma, n->row);
        json_position("position", &at);
        putchar('}');
        comma = ",";
    }
    free(list);
}

/* What it is of: memory, registers, or all that an instruction uses. */
static void json_wants(const struct criterion *c)
{
    fputs(", \"wants\": [", stdout);
    for (size_t i = 0; i < c->wants; i++) {
        const struct slice_want *w = &c->want[i];
        char name[64];
        fputs(i ? ", {" : "{", stdout);
        if (w->kind == SLICE_MEMORY) {
            printf("\"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64 ", ", w->addr, w->bytes);
        } else if (w->kind == SLICE_REGISTER) {
            loc_name((struct loc_span){.first = w->addr & 0xfff, .count = w->bytes & 0xfff}, name,
                     sizeof name);
            printf("\"register\": \"%s\", ", name);
        }
        printf("\"instruction\": %" PRIu64 "}", w->at);
    }
    putchar(']');
}

static void json_criterion(const struct slice_print *p, const char *key, const char *text,
                           const struct criterion *c)
{
    struct source_line l;
    bool own = study_line(p->study, c->pc, &l);
    printf("  \"%s\": {\"text\": ", key);
    json_string(text);
    json_member("what", c->what);
    json_member("note", c->note[0] ? c->note : NULL);
    printf(", \"thread\": %" PRIu32, trace_thread(p->study->trace, c->thread));
    json_member("file", own ? l.file : NULL);
    printf(", \"line\": %" PRIu32, own ? l.line : 0);
    json_position("position", &c->position);
    json_wants(c);
    putchar('}');
}

static void json_list(const char *key, const char *const *word, size_t words)
{
    printf(",\n  \"%s\": [", key);
    for (size_t i = 0; i < words; i++) {
        fputs(i ? ", " : "", stdout);
        json_string(word[i]);
    }
    putchar(']');
}

/* What was asked for, and how much that is. */
static void json_head(const struct slice_print *p)
{
    const struct report_limits *l = &p->of->limits;
    struct slice_figures figures;
    slice_figures(p->slice, &figures);
    json_begin();
    printf(",\n  \"kind\": \"%s\",\n", slice_print_kind(p->of->kind));
    json_criterion(p, "criterion", p->text, p->criterion);
    if (p->of->kind == SLICE_CHOP) {
        puts(",");
        json_criterion(p, "to", p->of->target_text, &p->of->target);
    }
    json_list("prune", (const char *const *)p->of->pruning.word, p->of->pruning.words);
    fputs(",\n  \"only_threads\": [", stdout);
    for (size_t i = 0; i < l->threads; i++)
        printf("%s%" PRIu32, i ? ", " : "", l->thread[i]);
    putchar(']');
    json_list("only_files", l->file, l->files);
    json_list("only_modules", l->module, l->modules);
    printf(",\n  \"instructions\": %" PRIu64 ",\n  \"shown\": %" PRIu64 ",\n  \"total\": %" PRIu64
           ",\n  \"threads\": %" PRIu64 ",\n  \"pruned\": %" PRIu64,
           p->report->full, p->report->nodes, trace_insns(p->study->trace), p->report->threads,
           figures.pairs);
}

int slice_print_json(const struct slice_print *p, const char *path, struct err *err)
{
    const struct report *r = p->report;
    (void)path;
    (void)err;
    json_head(p);
    fputs(",\n  \"lines\": [", stdout);
    for (size_t i = 0; i < r->rows; i++) {
        printf("%s\n    ", i ? "," : "");
        json_row(p, &r->row[i]);
    }
    fputs("\n  ],\n  \"edges\": [", stdout);
    for (size_t i = 0; i < r->edges; i++) {
        printf("%s\n    ", i ? "," : "");
        json_edge(p, (int32_t)i);
    }
    if (p->steps) {
        fputs("\n  ],\n  \"steps\": [", stdout);
        json_steps(p);
    }
    if (p->all) {
        fputs("\n  ],\n  \"nodes\": [", stdout);
        json_nodes(p);
    }
    puts("\n  ]\n}");
    return 0;
}
