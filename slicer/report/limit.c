/* limit.c - a part of a report: some threads, files, modules.
 *
 * SPDX-License-Identifier: MIT
 *
 * Rows are left out when all is known of them, so what is left has its distance in the whole slice.
 * The criterion's row, and the one that a chop leads to, stay to look from, without their nodes.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/report/report.h"

#define GONE UINT32_MAX

static bool matches(const char *const *pattern, size_t patterns, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    for (size_t i = 0; path && i < patterns; i++)
        if (fnmatch(pattern[i], path, 0) == 0 || (slash && fnmatch(pattern[i], slash + 1, 0) == 0))
            return true;
    return !patterns;
}

bool report_limit_module(const struct report_limits *l, const char *module)
{
    return matches(l->module, l->modules, module);
}

static bool is_left(const struct report_limits *l, const struct report_row *r)
{
    if (!r->nodes)
        return false;
    bool thread = !l->threads;
    for (size_t i = 0; i < l->threads && !thread; i++)
        thread = l->thread[i] == r->thread;
    return thread && matches(l->file, l->files, r->file) && report_limit_module(l, r->module);
}

/* Edges between rows that are left; *place: where rows went. */
static void keep_edges(struct report *r, const uint32_t *place, int32_t *edge_place)
{
    size_t n = 0;
    for (size_t i = 0; i < r->edges; i++) {
        struct report_edge e = r->edge[i];
        bool left = place[e.row] != GONE && place[e.on] != GONE;
        edge_place[i] = left ? (int32_t)n : REPORT_NONE;
        e.row = place[e.row];
        e.on = place[e.on];
        if (left)
            r->edge[n++] = e;
    }
    r->edges = n;
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].edge != REPORT_NONE)
            r->row[i].edge = edge_place[r->row[i].edge];
}

int report_limit(struct report *r, const struct report_limits *l, struct err *err)
{
    uint32_t *place = malloc(sizeof *place * (r->rows + 1));
    int32_t *edge_place = malloc(sizeof *edge_place * (r->edges + 1));
    bool *shown = calloc(r->rows + 1, sizeof *shown); /* with its nodes */
    static const struct report_limits none;
    const size_t rows = r->rows;
    size_t n = 0;
    uint64_t nodes = 0;
    if (!place || !edge_place || !shown) {
        free(place);
        free(edge_place);
        free(shown);
        return err_set(err, "no memory");
    }
    for (size_t i = 0; i < r->rows; i++) {
        shown[i] = is_left(l ? l : &none, &r->row[i]);
        place[i] = GONE;
        if (!shown[i] && r->row[i].distance && !r->row[i].target)
            continue;
        place[i] = (uint32_t)n;
        r->row[n] = r->row[i];
        r->row[n].nodes = shown[i] ? r->row[n].nodes : 0;
        nodes += r->row[n++].nodes;
    }
    r->rows = n;
    keep_edges(r, place, edge_place);
    n = 0;
    for (uint64_t i = 0; r->node && i < r->nodes; i++) {
        if (!shown[r->node[i].row] || r->node[i].left_out)
            continue;
        r->node[n] = r->node[i];
        r->node[n++].row = place[r->node[i].row];
    }
    r->nodes = nodes;
    for (uint32_t i = 0; r->flows && i < r->flows->nodes; i++)
        r->flows->row_of[i] = r->flows->row_of[i] < rows ? place[r->flows->row_of[i]] : GONE;
    free(place);
    free(edge_place);
    free(shown);
    return 0;
}
