/* slice_html_source.c - the sources of a slice's page: functions, with the slice's lines marked.
 *
 * SPDX-License-Identifier: MIT
 *
 * A function is shown from its first line of the slice to its last one, and what belongs to it
 * around them. Functions of the story are unfolded. Debug information may name any line up to 2^32:
 * only lines near those of the slice are asked for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/slice_page.h"

enum { HEAD_MOST = 40, TAIL_MOST = 60, GAP_MOST = 14, AROUND = 4, WHY_MOST = 6 };

/* A row of a file that is shown; ordered by file, function, line. */
struct spot {
    size_t file;
    const char *function;
    uint32_t line, row;
};

struct list {
    const struct slice_page *g;
    struct spot *spot;
    size_t spots;
    uint32_t *from, *on; /* edges: from[row]... are the first of a row's list, on a `next` */
    uint32_t *next_from, *next_on;
};

static int by_place(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    int names = strcmp(x->function ? x->function : "", y->function ? y->function : "");
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (names)
        return names;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static const char *line_text(const struct list *l, const struct spot *m, uint32_t line)
{
    return source_text(l->g->p->study->source, l->g->file[m->file], line);
}

/* `work` of `ns::C::work(int)`; its length in *n. */
static const char *bare_name(const char *function, size_t *n)
{
    const char *begin = function, *end = function + strcspn(function, "(<");
    for (const char *at = function; at < end; at++)
        if (*at == ':')
            begin = at + 1;
    *n = (size_t)(end - begin);
    return begin;
}

/* The line above `first` that names the function, if one near does; else `first`. */
static uint32_t head_of(const struct list *l, const struct spot *m, uint32_t first)
{
    size_t n;
    const char *name = m->function ? bare_name(m->function, &n) : NULL;
    for (uint32_t line = first; name && n && line && first - line < HEAD_MOST; line--) {
        const char *text = line_text(l, m, line), *at = text ? strstr(text, name) : NULL;
        if (at && at[n] == '(' && !strchr(text, ';'))
            return line;
    }
    return first > 1 ? first - 1 : first;
}

/* The line with the brace that closes what begins at `head`, if it is near; else `last`. */
static uint32_t tail_of(const struct list *l, const struct spot *m, uint32_t head, uint32_t last)
{
    const char *first = line_text(l, m, head);
    size_t indent = first ? strspn(first, " \t") : 0;
    for (uint32_t line = last; first && line - last < TAIL_MOST && line < UINT32_MAX; line++) {
        const char *text = line_text(l, m, line);
        if (!text)
            break;
        if (strspn(text, " \t") <= indent && text[strspn(text, " \t")] == '}')
            return line;
    }
    return last;
}

/* ---- what a line depends on ---- */

/* One that a row depends on has a line of its own, those that depend on it have one together. */
static void put_why(const struct list *l, uint32_t row, uint32_t edge, bool forward, bool first)
{
    const struct slice_page *g = l->g;
    const struct report_edge *e = &g->p->report->edge[edge];
    const struct report_row *here = &g->p->report->row[row];
    uint32_t there = forward ? e->row : e->on;
    bool across = here->thread != g->p->report->row[there].thread;
    if (forward) {
        fputs(first ? "<div>&rarr; for " : ", ", g->f);
    } else {
        fprintf(g->f, "<div%s>&larr; ", across ? " class=\"across\"" : "");
        slice_page_edge(g, (int32_t)edge);
        fputs(" from ", g->f);
    }
    slice_page_link(g, there, here);
    fputs(forward ? "" : "</div>\n", g->f);
}

static void put_whys(const struct list *l, uint32_t row, bool forward)
{
    size_t put = 0, left = 0;
    const uint32_t *next = forward ? l->next_on : l->next_from;
    for (uint32_t i = (forward ? l->on : l->from)[row]; i; i = next[i - 1]) {
        const struct report_edge *e = &l->g->p->report->edge[i - 1];
        if (!slice_page_shows(l->g, forward ? e->row : e->on))
            continue;
        if (put < WHY_MOST)
            put_why(l, row, i - 1, forward, put == 0);
        left += put >= WHY_MOST;
        put++;
    }
    if (left)
        fprintf(l->g->f, forward ? ", %zu more" : "<div>&larr; %zu more</div>\n", left);
    if (forward && put)
        fputs("</div>\n", l->g->f);
}

/* Edges are chained by the rows that they lead from and to, so that each is met once. */
static int chain_edges(struct list *l)
{
    const struct report *r = l->g->p->report;
    l->from = calloc(r->rows + 1, sizeof *l->from);
    l->on = calloc(r->rows + 1, sizeof *l->on);
    l->next_from = calloc(r->edges + 1, sizeof *l->next_from);
    l->next_on = calloc(r->edges + 1, sizeof *l->next_on);
    if (!l->from || !l->on || !l->next_from || !l->next_on)
        return -1;
    for (size_t i = r->edges; i-- > 0;) {
        const struct report_edge *e = &r->edge[i];
        l->next_from[i] = l->from[e->row];
        l->from[e->row] = (uint32_t)i + 1;
        l->next_on[i] = l->on[e->on];
        l->on[e->on] = (uint32_t)i + 1;
    }
    return 0;
}

/* ---- functions ---- */

static void put_plain(const struct list *l, const struct spot *m, uint32_t line)
{
    const char *text = line_text(l, m, line);
    fprintf(l->g->f, "<div class=\"line\"><span>%" PRIu32 "</span><code>", line);
    slice_page_put(l->g, text ? text : "");
    fputs("</code></div>\n", l->g->f);
}

/* A line of the slice, with the rows of all threads that are there: spots [i, n). */
static void put_marked(const struct list *l, size_t i, size_t n)
{
    const struct slice_page *g = l->g;
    const struct spot *m = &l->spot[i];
    const char *text = line_text(l, m, m->line);
    bool criterion = false;
    for (size_t k = i; k < n; k++) {
        const struct report_row *r = &g->p->report->row[l->spot[k].row];
        criterion = criterion || r->distance == 0 || r->target;
    }
    fprintf(g->f, "<details class=\"line in%s\" data-r=\"", criterion ? " criterion" : "");
    for (size_t k = i; k < n; k++)
        slice_page_filter(g, k > i ? " " : "", l->spot[k].row);
    fprintf(g->f, "\"><summary><span>%" PRIu32 "</span><code>", m->line);
    slice_page_put(g, text ? text : "");
    fputs("</code>", g->f);
    for (size_t k = i; k < n; k++) {
        uint32_t thread = g->p->report->row[l->spot[k].row].thread;
        fprintf(g->f, "<b class=\"t t%" PRIu32 "\" id=\"m%" PRIu32 "\">T%" PRIu32 "</b>",
                thread % 8, l->spot[k].row, thread);
    }
    fputs("</summary>\n", g->f);
    for (size_t k = i; k < n; k++)
        for (int forward = 0; forward < 2; forward++)
            put_whys(l, l->spot[k].row, forward);
    fputs("</details>\n", g->f);
}

static void put_gap(const struct list *l, const struct spot *m, uint32_t from, uint32_t to)
{
    if (to - from <= GAP_MOST) {
        for (uint32_t line = from; line < to; line++)
            put_plain(l, m, line);
        return;
    }
    for (uint32_t line = from; line < from + AROUND; line++)
        put_plain(l, m, line);
    fprintf(l->g->f, "<div class=\"gap\">%" PRIu32 " lines</div>\n", to - from - 2 * AROUND);
    for (uint32_t line = to - AROUND; line < to; line++)
        put_plain(l, m, line);
}

/* Is one of the spots [i, n) in the story, or the criterion? */
static bool matters(const struct list *l, size_t i, size_t n)
{
    const struct slice_print *p = l->g->p;
    for (; i < n; i++)
        if (p->report->row[l->spot[i].row].distance == 0 ||
            (p->story && story_has(p->story, l->spot[i].row)))
            return true;
    return false;
}

static void put_function(const struct list *l, size_t i, size_t n)
{
    const struct slice_page *g = l->g;
    const struct spot *m = &l->spot[i];
    uint32_t head = head_of(l, m, m->line), last = l->spot[n - 1].line;
    uint32_t tail = tail_of(l, m, head, last), line = head;
    fprintf(g->f, "<details class=\"fn\"%s><summary>", matters(l, i, n) ? " open" : "");
    slice_page_put(g, m->function ? m->function : "?");
    fprintf(g->f, " <small>%" PRIu32 " to %" PRIu32 "</small></summary>\n", head, tail);
    while (i < n) {
        size_t k = i + 1;
        while (k < n && l->spot[k].line == l->spot[i].line)
            k++;
        put_gap(l, m, line, l->spot[i].line);
        put_marked(l, i, k);
        line = l->spot[i].line + 1;
        i = k;
    }
    if (tail > last && line)
        put_gap(l, m, line, tail + 1);
    fputs("</details>\n", g->f);
}

/* Spots [i, n) are those of a file; its functions are ordered by their first lines. */
static void put_file(const struct list *l, size_t i, size_t n)
{
    size_t last = n;
    fputs("<h3>", l->g->f);
    slice_page_put(l->g, l->g->file[l->spot[i].file]);
    fputs("</h3>\n", l->g->f);
    for (;;) {
        size_t best = n, end = n;
        for (size_t k = i, next; k < n; k = next) {
            uint32_t line = l->spot[k].line;
            for (next = k + 1; next < n && l->spot[next].function == l->spot[k].function;)
                next++;
            bool done = last < n &&
                        (line < l->spot[last].line || (line == l->spot[last].line && k <= last));
            if (!done && (best == n || line < l->spot[best].line)) {
                best = k;
                end = next;
            }
        }
        if (best == n)
            return;
        put_function(l, best, end);
        last = best;
    }
}

int slice_page_sources(const struct slice_page *g, struct err *err)
{
    const struct report *r = g->p->report;
    struct list l = {.g = g, .spot = malloc(sizeof *l.spot * (r->rows + 1))};
    int bad = l.spot ? chain_edges(&l) : -1;
    for (uint32_t i = 0; !bad && i < r->rows; i++) {
        size_t file = r->row[i].file ? slice_page_file(g, r->row[i].file) : g->files;
        if (file < g->files && slice_page_shows(g, i))
            l.spot[l.spots++] = (struct spot){file, r->row[i].function, r->row[i].line, i};
    }
    if (l.spots)
        qsort(l.spot, l.spots, sizeof *l.spot, by_place);
    fputs("<section id=\"source\"><h2>Source</h2>\n", g->f);
    for (size_t i = 0, n; i < l.spots; i = n) {
        for (n = i + 1; n < l.spots && l.spot[n].file == l.spot[i].file;)
            n++;
        put_file(&l, i, n);
    }
    fputs("</section>\n", g->f);
    free(l.spot);
    free(l.from);
    free(l.on);
    free(l.next_from);
    free(l.next_on);
    return bad ? err_set(err, "no memory") : 0;
}
