/* usual.c - what is usual in the dependences of a slice. SPDX-License-Identifier: MIT */
#include "slicer/story/usual.h"

#include <stdlib.h>

#include "base/table.h"

/* Edges between two instructions, or of all that one takes in the same way. */
struct tally {
    uint64_t to, from; /* from: of all, a small number */
    uint64_t count;
};

enum { REPEATS = 1, OPENS = 2, OPENS_NOT = 4 };

struct usual {
    struct study *study;
    const struct report *report;
    TABLE(struct tally) tallies;
    uint8_t *row; /* by row of the report */
};

/* By what way an instruction takes it: memory, or that register. */
static uint64_t way_of(const struct flows_edge *e)
{
    return (uint64_t)e->kind << 56 | (e->memory ? 1ull << 55 : e->addr << 8);
}

static struct tally *tally_of(const struct usual *u, gaddr pc, uint64_t from)
{
    return table_find_pair(&u->tallies, pc, from);
}

static int add(struct usual *u, gaddr pc, uint64_t from)
{
    if (table_reserve_pair(&u->tallies))
        return -1;
    struct tally *t = tally_of(u, pc, from);
    u->tallies.used += !t->to;
    t->to = pc;
    t->from = from;
    t->count++;
    return 0;
}

static int add_edge(struct usual *u, uint32_t node, const struct flows_edge *e)
{
    const struct flows *f = u->report->flows;
    const struct flows_node *n = &f->node[node];
    uint32_t row = f->row_of[node];
    if (e->kind == SLICE_CONTROL || e->on == FLOWS_NOBODY)
        return 0;
    gaddr on = f->node[e->on].pc;
    if (row < u->report->rows && row == f->row_of[e->on] && on >= n->pc && e->kind == SLICE_VALUE)
        u->row[row] |= REPEATS;
    return add(u, n->pc, way_of(e)) || add(u, n->pc, way_of(e) ^ on);
}

struct usual *usual_new(struct study *s, const struct report *r)
{
    struct usual *u = calloc(1, sizeof *u);
    if (!u || !(u->row = calloc(r->rows + 1, 1))) {
        usual_free(u);
        return NULL;
    }
    u->study = s;
    u->report = r;
    for (uint32_t node = 0; node < r->flows->nodes; node++) {
        uint32_t count;
        const struct flows_edge *x = flows_of(r->flows, node, &count);
        for (uint32_t i = 0; i < count; i++)
            if (add_edge(u, node, &x[i])) {
                usual_free(u);
                return NULL;
            }
    }
    return u;
}

void usual_free(struct usual *u)
{
    if (!u)
        return;
    free(u->tallies.slot);
    free(u->row);
    free(u);
}

unsigned usual_rarity(const struct usual *u, uint32_t node, const struct flows_edge *e)
{
    const struct flows *f = u->report->flows;
    if (node == FLOWS_CRITERION || e->kind == SLICE_CONTROL || e->on == FLOWS_NOBODY)
        return 0;
    gaddr pc = f->node[node].pc;
    uint64_t all = tally_of(u, pc, way_of(e))->count;
    uint64_t these = tally_of(u, pc, way_of(e) ^ f->node[e->on].pc)->count;
    unsigned doublings = these ? 63 - (unsigned)__builtin_clzll(all / these) : 0;
    return doublings < USUAL_RAREST ? doublings : USUAL_RAREST;
}

bool usual_repeats(const struct usual *u, uint32_t row)
{
    return row < u->report->rows && u->row[row] & REPEATS;
}

/* Has the function of a row another line in the slice? */
static bool has_more(const struct usual *u, const struct report_row *r)
{
    for (size_t i = 0; i < u->report->rows; i++) {
        const struct report_row *x = &u->report->row[i];
        if (x->function == r->function && x->file == r->file && x->line != r->line)
            return true;
    }
    return false;
}

bool usual_opens(struct usual *u, uint32_t row)
{
    if (row >= u->report->rows || u->row[row] & OPENS_NOT)
        return false;
    if (u->row[row] & OPENS)
        return true;
    const struct report_row *r = &u->report->row[row];
    struct source_line is, first;
    bool opens = r->file && source_line(u->study->source, r->pc, &is) && !is.inlined && is.outer &&
                 source_line(u->study->source, is.entry, &first) && first.file == r->file &&
                 first.line == r->line && has_more(u, r);
    u->row[row] |= opens ? OPENS : OPENS_NOT;
    return opens;
}
