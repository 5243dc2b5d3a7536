/* report.c - a slice for people.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two passes over the trace: one that gives each node its row, with the frames that folding needs,
 * and that of edges.h, whose edges are added up by pairs of rows.
 */
#include "slicer/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "slicer/slice_private.h"
#include "trace/pass.h"

enum { NO_ROW = -1, MEMO = 4096 };
#define READS_FLAGS 0x80000000u /* of row_of: the instruction does */

/* By pairs of words. */
struct numbers {
    struct number {
        uint64_t b, a;  /* b plus one; 0: free */
        uint32_t value; /* plus one; 0: not known yet */
    } * slot;
    size_t room, used;
};

struct builder {
    struct study *study;
    struct code *code;
    const struct slice *slice;
    const struct report_options *options;
    struct report *out;
    struct groups **groups; /* by block */
    size_t row_room, edge_room;
    uint64_t *insn; /* of nodes that are listed, ascending, and their rows */
    uint32_t *row_of;
    uint64_t nodes, cursor;
    uint64_t met, skip;     /* nodes; those before `skip` of them are not listed */
    uint64_t flow_skip;     /* of those that are listed, so many are not in flows */
    struct numbers row_at;  /* by thread and place of a pc */
    struct numbers edge_at; /* by rows */
    struct numbers line_at; /* by pc: the row of a thread's pc */
    struct memo {
        gaddr pc;
        uint32_t thread, own;
        int32_t row;   /* plus one; 0: free */
    } memo[MEMO];      /* and the latest of those */
    int32_t criterion; /* row */
    int32_t target;    /* that of what the slice leads to; the criterion if it is backward */
    const struct criterion *of;
    struct err *err;
};

/* The value of (a, b), plus one, to be set if it is 0; b is not the largest number there is. NULL:
 * no memory. */
static uint32_t *entry(struct numbers *t, uint64_t a, uint64_t b)
{
    if (table_reserve_pair(t))
        return NULL;
    struct number *n = table_find_pair(t, b + 1, a);
    t->used += !n->b;
    n->b = b + 1;
    n->a = a;
    return &n->value;
}

/* ---- rows ---- */

static int32_t new_row(struct builder *b, struct report_row row)
{
    struct report *r = b->out;
    row.distance = UINT32_MAX;
    row.edge = REPORT_NONE;
    return array_push(&r->row, &r->rows, &b->row_room, row) ? NO_ROW : (int32_t)r->rows - 1;
}

static int32_t find_row(struct builder *b, uint32_t thread, gaddr pc, bool *own)
{
    struct source_line l;
    uint32_t *known = entry(&b->line_at, pc, thread);
    if (!known)
        return NO_ROW;
    if (*known) {
        *own = (*known - 1) & 1;
        return (int32_t)((*known - 1) >> 1);
    }
    *own = study_own(b->study, pc, &l);
    bool lines = *own && l.file;
    uint64_t where = lines ? (uint64_t)(uintptr_t)l.file : l.outer && !*own ? l.entry : pc;
    uint64_t number = (uint64_t)thread << 32 | (lines ? l.line : 0);
    uint32_t *e = entry(&b->row_at, where, number);
    if (!e)
        return NO_ROW;
    if (!*e) {
        int32_t row =
            new_row(b, (struct report_row){.thread = trace_thread(b->study->trace, thread),
                                           .file = lines ? l.file : NULL,
                                           .line = lines ? l.line : 0,
                                           .own = *own,
                                           .function = l.function,
                                           .module = l.module,
                                           .pc = pc});
        if (row == NO_ROW)
            return NO_ROW;
        *e = (uint32_t)row + 1;
    }
    *known = ((*e - 1) << 1 | *own) + 1;
    return (int32_t)(*e - 1);
}

/* The row of what the recording leaves out from pc on. */
static int32_t row_of_gap(struct builder *b, uint32_t thread, gaddr pc)
{
    static const gaddr GAP = 1ull << 63; /* no code is there */
    uint32_t *e = entry(&b->row_at, pc | GAP, (uint64_t)thread << 32);
    if (e && !*e) {
        const int32_t row =
            new_row(b, (struct report_row){
                           .thread = trace_thread(b->study->trace, thread), .own = true, .pc = pc});
        *e = (uint32_t)row + 1;
    }
    return e ? (int32_t)*e - 1 : NO_ROW;
}

/* The row of a thread's instruction, without folding. *own: it is the user's code. */
static int32_t row_at(struct builder *b, uint32_t thread, gaddr pc, bool *own)
{
    struct memo *m = &b->memo[pc & (MEMO - 1)];
    if (m->pc != pc || m->thread != thread || !m->row) {
        int32_t row = find_row(b, thread, pc, own);
        *m = (struct memo){pc, thread, *own, row + 1};
    }
    *own = m->own;
    return m->row - 1;
}

/* A frame's mark: not known yet, not the user's, or the row that its maker is in plus ROWS. */
enum { UNKNOWN, NOT_OWN, ROWS };

static uint32_t mark_of(struct builder *b, uint32_t thread, const struct frame *f)
{
    const gaddr from[] = {f->maker_pc, f->jump_pc, f->call_pc};
    bool own;
    for (unsigned i = 0; i < sizeof from / sizeof *from; i++) {
        struct source_line l;
        if (!from[i] || !study_own(b->study, from[i], &l))
            continue;
        int32_t row = row_at(b, thread, from[i], &own);
        if (row != NO_ROW)
            return (uint32_t)row + ROWS;
    }
    return NOT_OWN;
}

/* The row that code in this frame counts to, if it has no source; NO_ROW: to itself. */
static int32_t row_of_frame(struct builder *b, uint32_t thread, struct frame *f)
{
    for (; f; f = f->parent) {
        if (f->mark == UNKNOWN)
            f->mark = mark_of(b, thread, f);
        if (f->mark != NOT_OWN)
            return (int32_t)(f->mark - ROWS);
    }
    return NO_ROW;
}

/* Instructions of a block that are in one row, or without source. */
struct group {
    int32_t row;
    bool own;
    uint64_t insns; /* a bit each */
};

struct groups {
    struct groups *next; /* of another thread */
    uint32_t thread, count;
    struct group at[];
};

static struct groups *make_groups(struct builder *b, const struct code_block *block,
                                  uint32_t thread)
{
    struct groups *g = malloc(sizeof *g + sizeof *g->at * block->insns);
    if (!g)
        return NULL;
    g->thread = thread;
    g->count = 0;
    for (uint32_t i = 0; i < block->insns; i++) {
        bool own = block->gap;
        uint32_t k = 0;
        int32_t row =
            own ? row_of_gap(b, thread, block->pc) : row_at(b, thread, block->insn[i].in.pc, &own);
        if (row == NO_ROW) {
            free(g);
            return NULL;
        }
        while (k < g->count && (g->at[k].row != row || g->at[k].own != own))
            k++;
        if (k == g->count)
            g->at[g->count++] = (struct group){row, own, 0};
        g->at[k].insns |= 1ull << i;
    }
    return g;
}

/* Those of a block for a thread; the thread that asked last is the first of the list. NULL: no
 * memory. */
static const struct groups *groups_of(struct builder *b, const struct code_block *block,
                                      uint32_t thread)
{
    struct groups **head = &b->groups[block->number], **at = head;
    if (*head && (*head)->thread == thread)
        return *head;
    while (*at && (*at)->thread != thread)
        at = &(*at)->next;
    struct groups *g = *at;
    if (g)
        *at = g->next;
    else if (!(g = make_groups(b, block, thread)))
        return NULL;
    g->next = *head;
    return *head = g;
}

static void free_groups(struct builder *b)
{
    for (uint32_t i = 0; b->groups && i < code_count(b->code); i++)
        while (b->groups[i]) {
            struct groups *g = b->groups[i];
            b->groups[i] = g->next;
            free(g);
        }
    free(b->groups);
}

/* The row that instructions of a group count to, in this frame. */
static int32_t row_of_group(struct builder *b, const struct group *g, uint32_t thread,
                            struct frame *f)
{
    if (g->own || !b->options->fold)
        return g->row;
    int32_t folded = row_of_frame(b, thread, f);
    bool other = folded != NO_ROW && b->options->limits &&
                 !report_limit_module(b->options->limits, b->out->row[folded].module);
    return folded == NO_ROW || other ? g->row : folded;
}

/* Nodes of a step, a bit each, all in one row. */
static void add_nodes(struct builder *b, const struct pass_step *st, int32_t row, uint64_t in)
{
    struct report_row *r = &b->out->row[row];
    unsigned first = (unsigned)__builtin_ctzll(in), last = 63u - (unsigned)__builtin_clzll(in);
    if (!r->nodes) {
        r->first = st->insn + first;
        r->first_at = (struct position){
            .thread = r->thread, .count = st->count, .pc = st->block->insn[first].in.pc};
    }
    if (st->insn + last >= r->last) {
        r->last = st->insn + last;
        r->last_at = (struct position){
            .thread = r->thread, .count = st->count, .pc = st->block->insn[last].in.pc};
    }
    r->nodes += (uint64_t)__builtin_popcountll(in);
}

/* The same, one by one. */
static void list_node(struct builder *b, const struct pass_step *st, uint32_t i, int32_t row,
                      bool shown)
{
    const struct insn *in = &st->block->insn[i].in;
    uint64_t insn = st->insn + i;
    if (b->met++ < b->skip)
        return;
    if (b->out->flows && b->nodes >= b->flow_skip)
        flows_list(b->out->flows, (uint32_t)(b->nodes - b->flow_skip), insn, (uint32_t)row, in);
    b->insn[b->nodes] = insn;
    b->row_of[b->nodes] = (uint32_t)row | (in->flags_read ? READS_FLAGS : 0);
    if (b->out->node)
        b->out->node[b->nodes] = (struct report_node){
            insn, st->count,           in->pc, b->out->row[row].thread, (uint32_t)row,
            0,    in->flags_read != 0, !shown};
    b->nodes++;
}

/* `part`: those that are shown; `left_out`: what the step stands for. */
static int take_step(struct builder *b, const struct pass_step *st, uint64_t in, uint64_t part,
                     const struct flow_call *left_out)
{
    int32_t row[PLAN_INSNS];
    const struct groups *g = groups_of(b, st->block, st->step->thread);
    if (!g)
        return err_set(b->err, "no memory");
    for (uint32_t k = 0; k < g->count; k++) {
        uint64_t here = in & g->at[k].insns;
        if (!here)
            continue;
        int32_t to = row_of_group(b, &g->at[k], st->step->thread, st->frame);
        if (here & part)
            add_nodes(b, st, to, here & part);
        if (left_out)
            b->out->row[to].left_out += left_out->arg[0];
        for (; here; here &= here - 1)
            row[__builtin_ctzll(here)] = to;
    }
    if (b->met + (uint64_t)__builtin_popcountll(in) <= b->skip) {
        b->met += (uint64_t)__builtin_popcountll(in);
        return 0;
    }
    for (; in; in &= in - 1)
        list_node(b, st, (uint32_t)__builtin_ctzll(in), row[__builtin_ctzll(in)], part & in & -in);
    return 0;
}

/* Steps of chunks that have nodes. */
static int pass_rows(struct builder *b, struct pass *pass)
{
    struct pass_step st;
    int more;
    do {
        if (pass_at_end(pass)) {
            uint64_t next = slice_next(b->slice, pass_insns(pass));
            if (next == UINT64_MAX)
                return 0;
            if (pass_skip(pass, b->study->index, next, b->err))
                return -1;
        }
        more = pass_next(pass, &st, b->err);
        uint64_t in =
            more == 1 ? slice_bits(b->slice, pass->chunk.number, st.step->insn_at, st.step->insns)
                      : 0;
        const struct slice *part = in ? b->options->part : NULL;
        if (in &&
            take_step(b, &st, in,
                      part ? slice_bits(part, pass->chunk.number, st.step->insn_at, st.step->insns)
                           : in,
                      trace_walk_left_out(&pass->at)))
            return -1;
    } while (more == 1);
    return more;
}

static int find_rows(struct builder *b)
{
    struct pass pass;
    b->groups = calloc(code_count(b->code) + 1u, sizeof *b->groups);
    if (!b->groups)
        return err_set(b->err, "no memory");
    if (pass_init(&pass, b->study->trace, b->err))
        return -1;
    int bad = pass_rows(b, &pass);
    pass_deinit(&pass);
    return bad;
}

/* ---- edges ---- */

/* The node with this number: its place in b->insn; b->nodes: none. Mostly it is near the cursor. */
static uint64_t place_of(const struct builder *b, uint64_t insn)
{
    uint64_t lo = b->cursor, hi = b->nodes, step = 1;
    while (lo && (lo == b->nodes || b->insn[lo] > insn)) {
        hi = lo;
        lo = lo > step ? lo - step : 0;
        step *= 2;
    }
    lo += search_first(hi - lo, i, b->insn[lo + i] < insn);
    return lo < b->nodes && b->insn[lo] == insn ? lo : b->nodes;
}

/* Value before address before control. */
static unsigned strongest(unsigned kinds)
{
    return kinds & -kinds;
}

static int add_edge(struct builder *b, uint32_t row, uint32_t on, const struct slice_dependence *d,
                    enum race race)
{
    struct report *r = b->out;
    uint32_t *e = entry(&b->edge_at, row, on);
    if (!e)
        return err_set(b->err, "no memory");
    if (!*e) {
        const struct report_edge new = {.row = row, .on = on, .sample = *d};
        if (array_push(&r->edge, &r->edges, &b->edge_room, new))
            return err_set(b->err, "no memory");
        *e = (uint32_t)r->edges;
    }
    struct report_edge *x = &r->edge[*e - 1];
    x->count++;
    bool stronger = d->kind < strongest(x->sample.kind);
    /* the latest, or of a forward slice the first */
    if (race > x->race ||
        (race == x->race && (stronger || (d->kind == x->sample.kind && !r->forward))))
        x->sample = *d;
    x->race = race > x->race ? race : x->race;
    x->kinds |= d->kind;
    return 0;
}

/* Keeps the edge for the story. `on`: b->nodes if nobody made it. */
static int keep_flow(struct builder *b, const struct slice_dependence *d, uint64_t on)
{
    struct flows *f = b->out->flows;
    uint32_t node = FLOWS_CRITERION, to = FLOWS_NOBODY;
    if (!f || (on < b->flow_skip && d->on != SLICE_NOBODY))
        return 0;
    if (d->node != UINT64_MAX) {
        if (b->cursor == b->nodes || b->insn[b->cursor] != d->node || b->cursor < b->flow_skip ||
            report_is_idle(d, b->row_of[b->cursor] & READS_FLAGS))
            return 0;
        node = (uint32_t)(b->cursor - b->flow_skip);
    }
    if (d->on != SLICE_NOBODY)
        to = (uint32_t)(on - b->flow_skip);
    return flows_add(f, node, to, d) ? err_set(b->err, "no memory") : 0;
}

static int take_edge(void *arg, const struct slice_dependence *d)
{
    struct builder *b = arg;
    bool begins = d->on == UINT64_MAX;
    uint64_t on = begins ? 0 : d->on == SLICE_NOBODY ? b->nodes : place_of(b, d->on);
    while (d->node != UINT64_MAX && b->cursor < b->nodes && b->insn[b->cursor] < d->node)
        b->cursor++; /* they come in order */
    if ((d->on == SLICE_NOBODY || on < b->nodes) && keep_flow(b, d, on))
        return -1;
    if (!begins && on == b->nodes)
        return 0;
    uint32_t row = (uint32_t)b->target;
    uint32_t on_row = begins ? (uint32_t)b->criterion : b->row_of[on] & ~READS_FLAGS;
    if (b->out->node && !begins && !b->out->forward)
        b->out->node[on].kinds |= d->kind;
    if (d->node != UINT64_MAX) {
        if (b->cursor == b->nodes || b->insn[b->cursor] != d->node ||
            report_is_idle(d, b->row_of[b->cursor] & READS_FLAGS))
            return 0;
        row = b->row_of[b->cursor] & ~READS_FLAGS;
        if (b->out->node && b->out->forward)
            b->out->node[b->cursor].kinds |= d->kind;
    }
    if (row == on_row)
        return 0;
    struct slice_dependence told = *d;
    const struct criterion *to = b->options->to ? b->options->to : b->of;
    enum race race = RACE_NONE;
    if (d->node != UINT64_MAX && !begins && marks_race(b->study, d, &race, b->err))
        return -1;
    if (d->node == UINT64_MAX) { /* what is wanted has a name where it is wanted */
        told.node_pc = to->position.pc;
        told.node_thread = to->thread;
    }
    if (begins) {
        told.on_pc = b->of->position.pc;
        told.on_thread = b->of->thread;
    }
    return add_edge(b, row, on_row, &told, race);
}

/* ---- order ---- */

/* Does edge x tell more than y about why its row is there? */
static bool better(const struct report *r, const struct report_edge *x, const struct report_edge *y)
{
    unsigned kx = strongest(x->kinds), ky = strongest(y->kinds);
    if (kx != ky)
        return kx < ky;
    if (x->race != y->race)
        return x->race > y->race;
    return r->forward ? x->sample.node < y->sample.node : x->sample.on > y->sample.on;
}

/* Breadth first: in each round, rows that those of the round before depend on; forwards, rows that
 * depend on those. */
static void measure(struct report *r)
{
    bool more = true;
    for (uint32_t d = 0; more; d++) {
        more = false;
        for (size_t i = 0; i < r->edges; i++) {
            const struct report_edge *e = &r->edge[i];
            struct report_row *on = &r->row[r->forward ? e->row : e->on];
            if (r->row[r->forward ? e->on : e->row].distance != d || on->distance <= d)
                continue;
            if (on->distance == UINT32_MAX || better(r, e, &r->edge[on->edge])) {
                on->distance = d + 1;
                on->edge = (int32_t)i;
                more = true;
            }
        }
    }
}

static int by_distance(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->last != y->last)
        return x->last > y->last ? -1 : 1;
    return 0;
}

static int by_distance_forward(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Rows without nodes (makers that nothing counts to) go; the rest is sorted, edges follow. */
static int arrange(struct builder *b)
{
    struct report *r = b->out;
    uint32_t *place = calloc(r->rows + 1, sizeof *place);
    size_t n = 0;
    if (!place)
        return err_set(b->err, "no memory");
    for (size_t i = 0; i < r->rows; i++) {
        r->row[i].number = (uint32_t)i;
        if (r->row[i].nodes || b->options->part || (int32_t)i == b->criterion ||
            (int32_t)i == b->target)
            r->row[n++] = r->row[i];
    }
    r->rows = n;
    qsort(r->row, n, sizeof *r->row, r->forward ? by_distance_forward : by_distance);
    for (size_t i = 0; i < n; i++)
        place[r->row[i].number] = (uint32_t)i;
    for (size_t i = 0; i < r->edges; i++) {
        r->edge[i].row = place[r->edge[i].row];
        r->edge[i].on = place[r->edge[i].on];
    }
    for (uint64_t i = 0; r->node && i < r->nodes; i++)
        r->node[i].row = place[r->node[i].row];
    const struct slice *part = b->options->part;
    for (uint32_t i = 0; r->flows && i < r->flows->nodes; i++)
        r->flows->row_of[i] =
            part && !slice_has(part, r->flows->insn[i]) ? UINT32_MAX : place[r->flows->row_of[i]];
    free(place);
    return 0;
}

/* Is (a, b) new in the table? */
static bool is_new(struct numbers *t, uint64_t a, uint64_t b)
{
    uint32_t *e = entry(t, a, b);
    bool new = e && !*e;
    if (e)
        *e = 1;
    return new;
}

/* Rows of the user's that are shown, or if there are none all of them. */
static void count(struct report *r)
{
    struct numbers thread = {0};
    bool own = false;
    for (size_t i = 0; i < r->rows; i++)
        own = own || (r->row[i].own && r->row[i].nodes);
    for (size_t i = 0; i < r->rows; i++) {
        const struct report_row *x = &r->row[i];
        r->others += own && !x->own;
        if (!x->nodes)
            continue;
        r->threads += is_new(&thread, x->thread, 0);
        r->lines += x->own || !own;
    }
    free(thread.slot);
}

/* ---- all of it ---- */

/* Instructions that are wanted themselves, in other lines than their criterion's, `of`: the branch
 * that led to a call. `from`: something comes from there. */
static int add_wanted(struct builder *b, const struct criterion *c, uint32_t of, bool from)
{
    for (size_t i = 0; i < c->wants; i++) {
        struct slice_dependence d = {.node = UINT64_MAX,
                                     .on = c->want[i].at,
                                     .kind = SLICE_CONTROL,
                                     .node_thread = c->thread,
                                     .on_thread = c->want[i].thread};
        uint64_t node = c->want[i].kind == SLICE_USES ? place_of(b, c->want[i].at) : b->nodes;
        if (node == b->nodes)
            continue;
        uint32_t row = b->row_of[node] & ~READS_FLAGS;
        if (row != of && add_edge(b, from ? row : of, from ? of : row, &d, RACE_NONE))
            return -1;
    }
    return 0;
}

static int find_edges(struct builder *b, const struct criterion *c)
{
    struct slice_options how = b->options->slice;
    const struct slice_options *o = &how;
    const struct criterion *to = b->options->to;
    bool own;
    how.unset = b->out->flows && !b->skip && !b->slice->figures.from;
    how.first = b->skip && b->nodes ? b->insn[0] : 0;
    b->target = b->criterion = row_at(b, c->thread, c->pc, &own);
    if (b->criterion != NO_ROW && to)
        b->target = row_at(b, to->thread, to->pc, &own);
    if (b->criterion == NO_ROW || b->target == NO_ROW)
        return err_set(b->err, "no memory");
    uint32_t criterion = (uint32_t)b->criterion, target = (uint32_t)b->target;
    b->out->row[target].target = to != NULL;
    if (b->out->bare && b->out->forward)
        return 0;
    if (!b->out->forward)
        return slice_edges(b->study->index, b->slice, c->want, c->wants, o, take_edge, b, b->err) ||
                       add_wanted(b, c, criterion, false)
                   ? -1
                   : 0;
    struct slice_ends ends = {
        .from = c->want, .froms = c->wants, .to = to ? to->want : NULL, .tos = to ? to->wants : 0};
    if (slice_edges_between(b->study->index, b->slice, &ends, o, take_edge, b, b->err) ||
        add_wanted(b, c, criterion, true))
        return -1;
    return to ? add_wanted(b, to, target, false) : 0;
}

static int build(struct builder *b, const struct criterion *c)
{
    b->out->forward = b->options->kind != SLICE_BACKWARD;
    b->out->bare = slice_count(b->slice) > REPORT_MOST && !b->options->nodes;
    uint64_t nodes = slice_count(b->slice), listed = b->out->bare ? REPORT_LAST : nodes;
    uint64_t room = listed + 1;
    b->skip = nodes - listed;
    if (b->options->flows && !b->out->forward) {
        b->flow_skip = listed > REPORT_LAST ? listed - REPORT_LAST : 0;
        b->out->flows = flows_new((uint32_t)(listed - b->flow_skip));
        if (!b->out->flows)
            return err_set(b->err, "no memory");
    }
    b->insn = malloc(sizeof *b->insn * room);
    b->row_of = malloc(sizeof *b->row_of * room);
    if (b->options->nodes)
        b->out->node = calloc(slice_count(b->slice) + 1, sizeof *b->out->node);
    if (!b->insn || !b->row_of || (b->options->nodes && !b->out->node))
        return err_set(b->err, "no memory");
    if (find_rows(b))
        return -1;
    if (find_edges(b, c))
        return -1;
    b->out->row[b->criterion].distance = 0;
    measure(b->out);
    b->out->nodes = b->out->full = b->met;
    if (b->options->part)
        b->out->full = slice_count(b->options->part);
    if (arrange(b) || ((b->options->limits || b->options->part) &&
                       report_limit(b->out, b->options->limits, b->err)))
        return -1;
    count(b->out);
    return 0;
}

struct report *report_new(struct study *s, const struct slice *slice, const struct criterion *c,
                          const struct report_options *o, struct err *err)
{
    struct builder b = {.study = s,
                        .code = trace_code(s->trace),
                        .slice = slice,
                        .options = o,
                        .of = c,
                        .err = err};
    b.out = calloc(1, sizeof *b.out);
    int bad = b.out ? build(&b, c) : err_set(err, "no memory");
    free(b.insn);
    free(b.row_of);
    free_groups(&b);
    free(b.row_at.slot);
    free(b.edge_at.slot);
    free(b.line_at.slot);
    if (!bad)
        return b.out;
    report_free(b.out);
    return NULL;
}

void report_free(struct report *r)
{
    if (!r)
        return;
    free(r->row);
    free(r->edge);
    free(r->node);
    flows_free(r->flows);
    free(r);
}
