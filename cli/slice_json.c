/* slice_json.c - a slice for programs to read. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/json.h"
#include "cli/slice_formats.h"
#include "cli/slice_steps.h"
#include "cli/slice_text.h"

enum { WHAT_ROOM = 300 };

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
    char name[SLICE_TEXT_PLACE], out[SLICE_TEXT_PLACE];
    source_name(p->study->source, r->pc, name, sizeof name);
    report_left_out(r, out, sizeof out);
    printf("{\"thread\": %" PRIu32, r->thread);
    json_member("file", r->file);
    printf(", \"line\": %" PRIu32, r->line);
    json_member("function", r->function);
    json_member("module", r->module);
    json_member("name", name);
    json_member("text", r->left_out ? out
                        : r->file   ? source_text(p->study->source, r->file, r->line)
                                    : NULL);
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

static void json_times(const struct slice_print *p, const struct story_times *t)
{
    struct times_values v;
    if (!times_values(t, p->values, &v))
        return;
    printf(", \"instances\": {\"count\": %" PRIu64, t->count);
    json_member("first", v.first);
    json_member("last", v.last);
    json_member("smallest", v.smallest);
    json_member("largest", v.largest);
    fputs(", \"values\": [", stdout);
    for (size_t i = 0; i < t->listed; i++) {
        fputs(i ? ", " : "", stdout);
        json_string(values_flowed(p->values, &t->list[i]));
    }
    fputs("]}", stdout);
}

/* Rows: which `lines` they are. */
static void json_rows(const char *name, const uint32_t *row, uint32_t rows)
{
    printf("\"%s\": [", name);
    for (uint32_t i = 0; i < rows; i++)
        printf("%s%" PRIu32, i ? ", " : "", row[i]);
    putchar(']');
}

static void json_story(const struct slice_print *p)
{
    for (size_t i = 0; i < p->story->rows; i++) {
        const struct story_row *x = &p->story->row[i];
        const char *value = values_flowed(p->values, &x->use);
        char what[WHAT_ROOM] = "", words[WHAT_ROOM];
        if (x->use.kind)
            report_what(p->study, &x->use, what, sizeof what);
        story_words(p->study, p->report, x, value, words, sizeof words);
        printf("%s\n    {\"line\": %" PRIu32, i ? "," : "", x->row);
        json_member("how", story_how(x->how));
        json_member("what", what);
        json_member("words", words);
        if (value)
            json_member("value", value);
        if (p->times)
            json_times(p, &p->times[i]);
        if (x->cause_of != STORY_NONE)
            printf(", \"cause_of\": %" PRId32, x->cause_of);
        if (x->at.thread)
            json_position("position", &x->at);
        json_member("race", x->race ? race_name(x->race) : NULL);
        json_member("mark", x->mark ? findings_word(x->mark) : NULL);
        printf(", \"count\": %" PRIu64 ", \"copies\": %" PRIu64 ", \"carried_by\": [", x->count,
               x->copies);
        for (uint32_t k = 0; k < x->carriers && k < STORY_CARRIERS; k++) {
            fputs(k ? ", " : "", stdout);
            json_string(x->carrier[k]);
        }
        fputs("], ", stdout);
        json_rows("with", x->part, x->parts);
        fputs(", ", stdout);
        json_rows("decided_at", x->decision, x->decisions);
        fputs(", ", stdout);
        json_rows("called_at", x->call, x->calls);
        putchar('}');
    }
}

/* Lines that are not in the slice: branches that led past lines of it, and what these came from. */
static void json_missed(const struct missed *m)
{
    for (size_t i = 0; i < m->rows; i++) {
        const struct missed_row *x = &m->row[i];
        printf("%s\n    {\"thread\": %" PRIu32, i ? "," : "", x->row.thread);
        json_member("file", x->row.file);
        if (x->row.file)
            printf(", \"line\": %" PRIu32, x->row.line);
        json_member("function", x->row.function);
        json_member("how", x->how);
        json_member("words", x->words);
        json_position("position", &x->at);
        putchar('}');
    }
}

static void json_findings(const struct slice_print *p)
{
    for (size_t i = 0; i < p->findings->count; i++) {
        const struct finding *x = &p->findings->list[i];
        printf("%s\n    {\"line\": %" PRIu32, i ? "," : "", x->row);
        json_member("kind", x->kind);
        json_member("text", x->text);
        json_position("position", &x->at);
        if (x->then.thread)
            json_position("then", &x->then);
        putchar('}');
    }
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

/* Rows that the text shows, one for each time that a thread came there. */
static void json_steps(const struct slice_print *p)
{
    const struct report *r = p->report;
    const char *comma = "";
    struct slice_steps *steps = slice_steps_new(p->study);
    for (uint64_t i = 0; steps && i < r->nodes; i++) {
        const struct report_node *n = &r->node[i];
        struct position at = {.thread = n->thread, .count = n->count, .pc = n->pc};
        if (!slice_steps_begin(steps, n->thread, n->row, n->pc) ||
            (r->others && !r->row[n->row].own))
            continue;
        printf("%s\n    {\"line\": %" PRIu32, comma, n->row);
        json_position("position", &at);
        putchar('}');
        comma = ",";
    }
    slice_steps_free(steps);
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
    if (p->story) {
        fputs(",\n  \"story\": [", stdout);
        json_story(p);
        fputs("\n  ],\n  \"findings\": [", stdout);
        json_findings(p);
        fputs("\n  ],\n  \"missed\": [", stdout);
        json_missed(p->missed);
        fputs("\n  ]", stdout);
    }
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
