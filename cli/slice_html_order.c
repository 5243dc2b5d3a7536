/* slice_html_order.c - the order of execution on a slice's page: threads in columns.
 *
 * SPDX-License-Identifier: MIT
 *
 * The statements of the slice as they were executed, downwards. What is repeated is there once, and
 * how often: a loop of a thousand rounds is read in one. Beyond ORDER_MOST only the last ones are
 * there: they are the nearest to the criterion.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/slice_page.h"
#include "cli/slice_steps.h"

enum { ORDER_MOST = 2000, PERIOD_MOST = 12 };

/* A statement that was executed; or the first or a further one of several that are repeated. */
struct item {
    uint32_t row, times; /* times: 0: belongs to the one before */
};

struct order {
    const struct slice_page *g;
    uint32_t *row; /* of all statements */
    size_t rows;
    struct item *item;
    size_t items;
};

static int list_statements(struct order *o)
{
    const struct report *r = o->g->p->report;
    const struct flows *f = r->flows;
    struct slice_steps *steps = slice_steps_new(o->g->p->study);
    o->row = malloc(sizeof *o->row * ((size_t)f->nodes + 1));
    o->item = malloc(sizeof *o->item * ((size_t)f->nodes + 1));
    for (uint32_t i = 0; steps && o->row && i < f->nodes; i++) {
        uint32_t row = f->row_of[i];
        if (row < r->rows && slice_page_shows(o->g, row) &&
            slice_steps_begin(steps, r->row[row].thread, row, f->node[i].pc))
            o->row[o->rows++] = row;
    }
    int bad = steps && o->row && o->item ? 0 : -1;
    slice_steps_free(steps);
    return bad;
}

/* How often the `period` statements from `at` on come one after the other. */
static size_t times_at(const struct order *o, size_t at, size_t period)
{
    size_t same = 0;
    while (at + period + same < o->rows && o->row[at + same] == o->row[at + period + same])
        same++;
    return same / period + 1;
}

static void fold(struct order *o)
{
    for (size_t at = 0; at < o->rows;) {
        size_t best = 1, times = 1;
        for (size_t period = 1; period <= PERIOD_MOST && at + period <= o->rows; period++) {
            size_t n = times_at(o, at, period);
            if (n > 1 && n * period > times * best) {
                best = period;
                times = n;
            }
        }
        for (size_t i = 0; i < best; i++)
            o->item[o->items++] = (struct item){o->row[at + i], i ? 0 : (uint32_t)times};
        at += best * times;
    }
}

/* ---- columns ---- */

/* The column of a thread, from 1 on: as threads come. */
static size_t column_of(uint32_t *threads, size_t *count, size_t room, uint32_t thread)
{
    size_t i = 0;
    while (i < *count && threads[i] != thread)
        i++;
    if (i == *count && *count < room)
        threads[(*count)++] = thread;
    return i + 1;
}

static void put_items(const struct order *o, size_t first, uint32_t *threads, size_t *count,
                      size_t room)
{
    const struct slice_page *g = o->g;
    for (size_t i = first; i < o->items; i++) {
        const struct item *item = &o->item[i];
        const struct report_row *r = &g->p->report->row[item->row];
        size_t column = column_of(threads, count, room, r->thread);
        bool open = i + 1 < o->items && !o->item[i + 1].times;
        fprintf(g->f, "<a href=\"#r%" PRIu32 "\" class=\"t%" PRIu32 "%s\"", item->row,
                r->thread % 8, !item->times || open ? " again" : "");
        if (column > 1)
            fprintf(g->f, " style=\"--c:%zu\"", column);
        fputc('>', g->f);
        if (item->times > 1)
            fprintf(g->f, "<sup>%" PRIu32 " times</sup> ", item->times);
        fprintf(g->f, ":%" PRIu32 "</a>\n", r->line);
    }
}

bool slice_page_has_order(const struct slice_page *g)
{
    return g->p->report->flows;
}

int slice_page_order(const struct slice_page *g, struct err *err)
{
    struct order o = {.g = g};
    size_t room = trace_threads(g->p->study->trace) + 1, columns = 0;
    uint32_t *threads = malloc(sizeof *threads * room);
    int bad = threads ? list_statements(&o) : -1;
    if (!bad) {
        fold(&o);
        size_t first = o.items > ORDER_MOST ? o.items - ORDER_MOST : 0;
        for (size_t i = first; i < o.items; i++)
            column_of(threads, &columns, room, g->p->report->row[o.item[i].row].thread);
        fprintf(g->f,
                "<section id=\"order\"><h2>In the order of execution</h2>\n<p>%zu statements%s"
                "</p>\n",
                o.rows, first ? "; the last ones, which are the nearest:" : "");
        fprintf(g->f, "<div class=\"order\" style=\"--n:%zu\">\n", columns);
        for (size_t i = 0; i < columns; i++)
            fprintf(g->f, "<b class=\"t t%" PRIu32 "\" style=\"--c:%zu\">T%" PRIu32 "</b>\n",
                    threads[i] % 8, i + 1, threads[i]);
        put_items(&o, first, threads, &columns, room);
        fputs("</div></section>\n", g->f);
    }
    free(threads);
    free(o.row);
    free(o.item);
    return bad ? err_set(err, "no memory") : 0;
}
