/* coverage.c - `ask coverage`: how often each line was executed. SPDX-License-Identifier: MIT */
#include "facts/calls/coverage.h"

#include <inttypes.h>
#include <string.h>

#include "ask/question.h"
#include "base/plain.h"

enum { COUNT, PLACE, TEXT };
static const struct rows_column columns[] = {
    [COUNT] = {"count", ROWS_NUMBER},
    [PLACE] = {"place", ROWS_PLACE},
    [TEXT] = {"text", ROWS_TEXT},
};

/* The end of its path, or all of it. */
static bool is_wanted(const struct ask_given *g, const char *file)
{
    const char *end = g->words ? g->word[0] : "";
    size_t n = strlen(end), have = strlen(file);
    return n <= have && !strcmp(file + have - n, end) &&
           (!n || n == have || end[0] == '/' || file[have - n - 1] == '/');
}

static int tell(struct asking *q, const struct coverage *c, struct err *err)
{
    struct rows *r = q->rows;
    uint64_t lines = 0, executed = 0;
    for (size_t i = 0; i < c->lines; i++)
        if (is_wanted(q->given, c->line[i].file)) {
            lines++;
            executed += c->line[i].count > 0;
        }
    int end = rows_begin(r, columns, sizeof columns / sizeof *columns, err);
    for (size_t i = 0; !end && i < c->lines; i++) {
        const struct coverage_line *l = &c->line[i];
        const char *text = source_text(q->study->source, l->file, l->line);
        if (!is_wanted(q->given, l->file))
            continue;
        rows_number(r, COUNT, l->count);
        rows_place(r, PLACE, &(struct rows_place){.file = l->file, .line = l->line});
        rows_text(r, TEXT, text);
        rows_thread(r, rows_only(r));
        end = rows_end(r, err);
    }
    if (end >= 0)
        rows_note(r, "%" PRIu64 " of %" PRIu64 " lines were executed", executed, lines);
    return end;
}

/* ---- lcov: geninfo(1) has the format ---- */

static void put_functions(FILE *out, const struct coverage *c, const char *file, size_t *at)
{
    size_t first = *at, hit = 0;
    for (; *at < c->functions && !strcmp(c->function[*at].file, file); ++*at) {
        const struct coverage_function *f = &c->function[*at];
        fprintf(out, "FN:%" PRIu32 ",", f->line);
        plain_put(out, PLAIN_TEXT, f->name);
        fputc('\n', out);
    }
    for (size_t i = first; i < *at; i++) {
        fprintf(out, "FNDA:%" PRIu64 ",", c->function[i].count);
        plain_put(out, PLAIN_TEXT, c->function[i].name);
        fputc('\n', out);
        hit += c->function[i].count > 0;
    }
    fprintf(out, "FNF:%zu\nFNH:%zu\n", *at - first, hit);
}

static void write_lcov(const struct ask_given *g, FILE *out, const struct coverage *c)
{
    size_t function = 0;
    for (size_t i = 0, n; i < c->lines; i += n) {
        const char *file = c->line[i].file;
        size_t hit = 0;
        for (n = 1; i + n < c->lines && c->line[i + n].file == file; n++)
            ;
        while (function < c->functions && strcmp(c->function[function].file, file) < 0)
            function++;
        if (!is_wanted(g, file))
            continue;
        fputs("TN:\nSF:", out);
        plain_put(out, PLAIN_TEXT, file);
        fputc('\n', out);
        put_functions(out, c, file, &function);
        for (size_t k = i; k < i + n; k++) {
            fprintf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", c->line[k].line, c->line[k].count);
            hit += c->line[k].count > 0;
        }
        fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", n, hit);
    }
}

int ask_coverage(struct asking *q, struct err *err)
{
    const struct ask_given *g = q->given;
    const struct coverage_options o = {.thread = rows_only(q->rows),
                                       .watch = {q->progress, q->interrupted, q->arg}};
    struct coverage c = {0};
    if (g->format && strcmp(g->format, "lcov"))
        return err_set_code(err, ASK_USAGE, "--format %s: there is lcov", g->format);
    int end = coverage_make(q->study, &o, &c, err);
    bool any = false;
    for (size_t i = 0; !any && i < c.lines; i++)
        any = is_wanted(g, c.line[i].file);
    if (!end && !any)
        end = g->words ? err_set(err, "%s: no such source file", g->word[0])
                       : err_set(err, "no module has source lines");
    if (!end && g->format)
        write_lcov(g, rows_foreign(q->rows), &c);
    else if (!end)
        end = tell(q, &c, err);
    coverage_deinit(&c);
    return end;
}
