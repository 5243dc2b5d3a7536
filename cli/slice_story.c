/* slice_story.c - the story of a slice on standard output, and what is not in it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Text of sources and names of variables go to the terminal through base/plain.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cli/slice_print.h"
#include "cli/slice_text.h"

enum { WORDS_ROOM = 300, LINES_ROOM = 120 };

static const struct report_row *row_at(const struct slice_print *p, size_t i)
{
    return &p->report->row[p->story->row[i].row];
}

static const struct report_row *row_before(const struct slice_print *p, size_t i)
{
    return i ? row_at(p, i - 1) : NULL;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void print_row(const struct slice_print *p, size_t i, size_t place_width, size_t text_width,
                      size_t how_width)
{
    const struct story_row *row = &p->story->row[i];
    char place[SLICE_TEXT_PLACE], text[SLICE_TEXT_LINE], words[WORDS_ROOM];
    slice_text_place(row_at(p, i), row_before(p, i), place);
    slice_text_line(p->study, row_at(p, i), text_width, text, sizeof text);
    story_words(p->study, p->report, row, values_flowed(p->values, &row->use), words, sizeof words);
    printf("  ");
    slice_text_padded(place, place_width);
    printf("  ");
    slice_text_padded(text, text_width);
    printf("  ");
    slice_text_padded(story_how(row->how), words[0] ? how_width + 2 : 0);
    plain_printf(stdout, "%s\n", words);
}

/* Below a row that stands for several executions: what flowed in each. */
static void print_times(const struct slice_print *p, const struct story_times *t)
{
    struct times_values v;
    if (t->count < 2 || !times_values(t, p->values, &v))
        return;
    plain_printf(stdout, "      %" PRIu64 " values: first %s, last %s", t->count, v.first, v.last);
    if (v.smallest)
        plain_printf(stdout, ", smallest %s, largest %s", v.smallest, v.largest);
    printf(t->listed < t->count ? "; the latest %zu:" : "; all:", t->listed);
    for (size_t i = 0; i < t->listed; i++) {
        const char *value = values_flowed(p->values, &t->list[i]);
        plain_printf(stdout, "%s %s", i ? "," : "", value ? value : "?");
    }
    putchar('\n');
}

static void print_findings(const struct slice_print *p)
{
    const struct findings *f = p->findings;
    char place[SLICE_TEXT_PLACE];
    if (f->count)
        puts("findings");
    for (size_t i = 0; i < f->count; i++) {
        slice_text_place(&p->report->row[f->list[i].row], NULL, place);
        plain_printf(stdout, "  %s  %s: %s\n", place, f->list[i].kind, f->list[i].text);
    }
    if (f->more)
        printf("  ... %zu more; `drdebug ask errors` and `ask races` have all\n", f->more);
    if (f->unsought[0])
        plain_printf(stdout, "findings   not all were looked for: %s\n", f->unsought);
}

/* Branches that led past lines of the story, and what they came from. */
static void print_missed(const struct slice_print *p)
{
    const struct missed *m = p->missed;
    char place[SLICE_TEXT_PLACE], text[SLICE_TEXT_LINE];
    size_t place_width = 0, how_width = 0, words_width = 0, text_width = 0;
    for (size_t i = 0; i < m->rows; i++) {
        slice_text_place(&m->row[i].row, i ? &m->row[i - 1].row : NULL, place);
        place_width = larger(place_width, plain_width(place));
        how_width = larger(how_width, strlen(m->row[i].how));
        words_width = larger(words_width, plain_width(m->row[i].words));
    }
    size_t most = slice_text_width(2 + place_width + 2 + 2 + how_width + 2 + words_width);
    for (size_t i = 0; i < m->rows; i++) {
        slice_text_line(p->study, &m->row[i].row, most, text, sizeof text);
        text_width = larger(text_width, plain_width(text));
    }
    if (m->rows)
        puts("missed");
    for (size_t i = 0; i < m->rows; i++) {
        slice_text_place(&m->row[i].row, i ? &m->row[i - 1].row : NULL, place);
        slice_text_line(p->study, &m->row[i].row, most, text, sizeof text);
        printf("  ");
        slice_text_padded(place, place_width);
        printf("  ");
        slice_text_padded(text, text_width);
        printf("  ");
        slice_text_padded(m->row[i].how, m->row[i].words[0] ? how_width + 2 : 0);
        plain_printf(stdout, "%s\n", m->row[i].words);
    }
}

void slice_story_print(const struct slice_print *p)
{
    char place[SLICE_TEXT_PLACE], text[SLICE_TEXT_LINE], words[WORDS_ROOM];
    size_t place_width = 0, text_width = 0, how_width = 0, words_width = 0;
    for (size_t i = 0; i < p->story->rows; i++) {
        const struct story_row *row = &p->story->row[i];
        slice_text_place(row_at(p, i), row_before(p, i), place);
        story_words(p->study, p->report, row, values_flowed(p->values, &row->use), words,
                    sizeof words);
        place_width = larger(place_width, plain_width(place));
        how_width = larger(how_width, strlen(story_how(row->how)));
        words_width = larger(words_width, plain_width(words));
    }
    size_t most = slice_text_width(2 + place_width + 2 + 2 + how_width + 2 + words_width);
    for (size_t i = 0; i < p->story->rows; i++) {
        slice_text_line(p->study, row_at(p, i), most, text, sizeof text);
        text_width = larger(text_width, plain_width(text));
    }
    print_findings(p);
    puts("story");
    for (size_t i = 0; i < p->story->rows; i++) {
        print_row(p, i, place_width, text_width, how_width);
        if (p->times)
            print_times(p, &p->times[i]);
    }
    print_missed(p);
}

/* ---- the rest ---- */

static bool same_function(const struct report_row *a, const struct report_row *b)
{
    return a->thread == b->thread && a->file == b->file && a->function == b->function &&
           (a->file || a->pc == b->pc);
}

/* Lines of rows [i, n) that are in the function of the first: `38, 39, 44`. */
static void list_lines(const struct report_row **row, size_t i, size_t n, char *out)
{
    const struct report_row *of = row[i];
    size_t used = 0, more = 0;
    out[0] = 0;
    for (; i < n && of->file; i++) {
        if (!row[i] || !same_function(row[i], of))
            continue;
        if (used > LINES_ROOM - 16)
            more++;
        else
            used += (size_t)snprintf(out + used, LINES_ROOM - used, "%s%" PRIu32, used ? ", " : "",
                                     row[i]->line);
    }
    if (more)
        snprintf(out + used, LINES_ROOM - used, ", %zu more", more);
}

/* Prints those of rows [i, n) that are in the function of the first, and takes them off. Returns
 * how many they are. */
static size_t print_function(const struct slice_print *p, const struct report_row **row, size_t i,
                             size_t n)
{
    size_t rows = 1;
    const struct report_row *of = row[i];
    char lines[LINES_ROOM], name[SLICE_TEXT_PLACE];
    list_lines(row, i, n, lines);
    if (of->left_out)
        report_left_out(of, name, sizeof name);
    else if (!of->file)
        source_name(p->study->source, of->pc, name, sizeof name);
    if (of->file)
        plain_printf(stdout, "  T%" PRIu32 " %s  %s:%s\n", of->thread,
                     of->function ? of->function : "?", slice_text_base(of->file), lines);
    else
        plain_printf(stdout, "  T%" PRIu32 " %s\n", of->thread, name);
    for (size_t k = i + 1; k < n; k++)
        if (row[k] && same_function(row[k], of)) {
            row[k] = NULL;
            rows++;
        }
    return rows;
}

/* Is the row in the story, or in one that was printed before? */
static bool is_told(const struct slice_print *p, const struct report_row *row)
{
    for (size_t i = 0; i < p->tolds; i++) {
        const struct report_row *x = &p->told[i];
        if (same_function(x, row) && x->line == row->line)
            return true;
    }
    return p->story && story_has(p->story, (uint32_t)(row - p->report->row));
}

void slice_story_rest(const struct slice_print *p)
{
    size_t rows, shown = p->story ? p->story->rows : p->tolds, left = 0;
    const struct report_row **row = slice_print_rows(p, &rows);
    for (size_t i = 0; row && i < rows; i++)
        row[i] = is_told(p, row[i]) ? NULL : row[i];
    for (size_t i = 0; row && i < rows; i++) {
        if (!row[i])
            continue;
        if (shown < p->lines)
            shown += print_function(p, row, i, rows);
        else
            left++;
    }
    if (left)
        printf("  ... %zu more lines; `--lines %zu` shows them, `--full` by their distance\n", left,
               shown + left);
    free(row);
}
