/* story.c - the short story of a backward slice.
 *
 * SPDX-License-Identifier: MIT
 *
 * A search from the criterion, cheapest first. An entry is a way to a node. What a node depends on
 * costs what weights.def says; a copy passes on what was wanted of it, byte by byte, at the price
 * of a copy. An edge is followed once for each kind of want. What was done wrong with memory is a
 * begin of the search, too.
 */
#include "slicer/story/story_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/look.h"

enum {
    ENTRIES_MOST = 1 << 20,
    FURTHER = 4000, /* ways that are looked at when there are rows enough: rows tell more lines */
};

/* ---- the heap ---- */

static bool before(const struct search *t, uint32_t a, uint32_t b)
{
    const struct entry *x = &t->entry[a], *y = &t->entry[b];
    return x->cost != y->cost ? x->cost < y->cost : x->order < y->order;
}

/* Puts an entry to its place in the heap. */
static int sift(struct search *t, uint32_t number)
{
    if (array_push(&t->heap, &t->heaped, &t->heap_room, number))
        return err_set(t->err, "no memory");
    for (size_t i = t->heaped - 1; i && before(t, t->heap[i], t->heap[(i - 1) / 2]);
         i = (i - 1) / 2) {
        uint32_t swap = t->heap[i];
        t->heap[i] = t->heap[(i - 1) / 2];
        t->heap[(i - 1) / 2] = swap;
    }
    return 0;
}

static int push(struct search *t, struct entry e)
{
    if (t->entries == ENTRIES_MOST)
        return 0; /* the best were found */
    e.order = (uint32_t)t->entries;
    if (array_push(&t->entry, &t->entries, &t->entry_room, e))
        return err_set(t->err, "no memory");
    return sift(t, e.order);
}

static uint32_t pop(struct search *t)
{
    uint32_t best = t->heap[0];
    t->heap[0] = t->heap[--t->heaped];
    for (size_t i = 0, k; (k = 2 * i + 1) < t->heaped; i = k) {
        k += k + 1 < t->heaped && before(t, t->heap[k + 1], t->heap[k]);
        if (!before(t, t->heap[k], t->heap[i]))
            break;
        uint32_t swap = t->heap[i];
        t->heap[i] = t->heap[k];
        t->heap[k] = swap;
    }
    return best;
}

/* ---- lines ---- */

static bool same_line(const struct report_row *a, const struct report_row *b)
{
    return a->file ? a->file == b->file && a->line == b->line : !b->file && a->pc == b->pc;
}

bool story_knows(const struct report *known, const struct report_row *r)
{
    for (size_t i = 0; known && i < known->rows; i++)
        if (same_line(&known->row[i], r))
            return true;
    return false;
}

static bool is_shown(const struct search *t, const struct report_row *r)
{
    return r && (r->own || !t->report->others || r->distance == 0) && !story_knows(t->known, r);
}

int32_t story_find_row(const struct search *t, const struct report_row *r, enum race race)
{
    for (size_t i = 0; i < t->out->rows; i++) {
        const struct story_row *x = &t->out->row[i];
        const struct report_row *is = &t->report->row[x->row];
        if (same_line(is, r) && (is->thread == r->thread || (i && (!race || x->race == race))))
            return (int32_t)i;
    }
    return STORY_NONE;
}

/* ---- rows ---- */

/* Names the functions that carried the value on the way that ends in this entry. */
static void name_carriers(struct search *t, const struct entry *e, struct story_row *row)
{
    struct source_line l, end;
    const char *last = NULL;
    gaddr first = e->use_node == FLOWS_CRITERION ? t->of->pc : t->flows->node[e->use_node].pc;
    source_line(t->study->source, t->flows->node[e->node].pc, &end);
    source_line(t->study->source, first, &l);
    const char *user = l.function;
    for (const struct entry *x = e; x->copies && x->from != STORY_NO_ENTRY;
         x = &t->entry[x->from]) {
        source_line(t->study->source, t->flows->node[x->via_node].pc, &l);
        bool known =
            !l.function || l.function == last || l.function == user || l.function == end.function;
        for (uint32_t i = 0; i < row->carriers && i < STORY_CARRIERS; i++)
            known = known || strcmp(row->carrier[i], l.function) == 0;
        last = l.function;
        if (known)
            continue;
        if (row->carriers < STORY_CARRIERS) {
            row->carrier[row->carriers] = l.function;
            row->carried[row->carriers] = t->flows->node[x->via_node].pc;
        }
        row->carriers++;
    }
}

/* Finds two steps of the run that ends in this entry: one that has a name for what flowed, the one
 * between two threads or the nearest to the use, and the nearest one between two threads. */
static void name_steps(struct search *t, const struct entry *e, struct story_row *row)
{
    bool named = false;
    row->across = (struct slice_dependence){0};
    for (const struct entry *x = e; x && x->via; x = x->copies ? &t->entry[x->from] : NULL) {
        struct slice_dependence d = run_begin(t, x);
        if (x->via_node == FLOWS_CRITERION) { /* what is wanted has a name where it is wanted */
            d.node_pc = t->of->position.pc;
            d.node_thread = t->of->thread;
        } else if (d.node_thread != d.on_thread && d.kind != SLICE_CONTROL) {
            row->across = d;
        }
        bool has = report_is_named(t->study, &d);
        if (has || !named)
            row->use = d;
        named = named || has;
    }
    if (row->across.kind && report_is_named(t->study, &row->across))
        row->use = row->across;
}

static enum story_how how_of(const struct search *t, const struct entry *e)
{
    if (e->mark == MARK_UNSET)
        return STORY_UNSET;
    if (e->kind == SLICE_CONTROL)
        return STORY_DECIDED;
    const struct report_row *r = story_report_row(t, e->node);
    if (r && r->left_out)
        return STORY_LEFT_OUT;
    if (t->flows->node[e->node].outside)
        return STORY_OUTSIDE;
    if (e->mark == MARK_OVERFLOW && e->via)
        return STORY_OVERWRITTEN;
    if (e->carried || t->flows->node[e->node].copy)
        return STORY_COPIED;
    if (e->kind == SLICE_ADDRESS)
        return STORY_ADDRESSED;
    return cost_is_constant(t, e->node) ? STORY_SET : STORY_COMPUTED;
}

static uint64_t count_edges(const struct search *t, const struct story_row *row)
{
    const struct report *r = t->report;
    uint32_t of = row->cause_of == STORY_NONE ? row->row : t->out->row[row->cause_of].row;
    for (size_t i = 0; i < r->edges; i++)
        if (r->edge[i].row == of && r->edge[i].on == row->row)
            return r->edge[i].count;
    return 1;
}

static int rank(enum story_how how)
{
    static const int ranks[] = {
#define HOW(name, rank, words) [STORY_##name] = (rank),
#include "slicer/story/hows.def"
#undef HOW
    };
    return ranks[how];
}

/* What was read, by its reader's name. */
static struct slice_dependence read_of(const struct search *t, const struct entry *e)
{
    struct slice_dependence d = flows_dependence(t->flows, e->via_node, e->via);
    d.on_pc = d.on_cfa = 0;
    return d;
}

static void describe(struct search *t, const struct entry *e, struct story_row *x)
{
    const struct story_row was = *x;
    *x = (struct story_row){.row = t->flows->row_of[e->node],
                            .cause_of = e->parent,
                            .how = how_of(t, e),
                            .insn = t->flows->insn[e->node],
                            .race = (enum race)e->race,
                            .mark = (enum mark)e->mark,
                            .detail = e->detail,
                            .copies = e->copies};
    name_steps(t, e, x);
    if (e->via) {
        x->came = run_begin(t, e);
        x->taken = run_end(t, e);
        x->extended = e->part.extended;
    }
    if (e->mark == MARK_UNSET)
        x->use = read_of(t, e);
    if (e->copies)
        name_carriers(t, e, x);
    x->count = count_edges(t, x);
    x->cost = e->cost;
    x->calls = was.calls;
    memcpy(x->call, was.call, sizeof x->call);
    x->parts = was.parts;
    memcpy(x->part, was.part, sizeof x->part);
    x->alsos = was.alsos;
    memcpy(x->also, was.also, sizeof x->also);
}

/* The line has a row, as what it did with the value: what it read is more. */
static void tell_unset(struct search *t, const struct entry *e, struct story_row *x)
{
    x->how = x->how == STORY_CRITERION ? x->how : STORY_UNSET;
    x->mark = MARK_UNSET;
    x->detail = e->detail;
    x->use = read_of(t, e);
}

/* The line's row stands for this instruction, too: in another call, if it was inlined. */
static void add_site(struct search *t, const struct entry *e, struct story_row *x)
{
    gaddr pc = t->flows->node[e->node].pc;
    for (uint32_t i = 0; i < x->alsos; i++)
        if (x->also[i] == pc)
            return;
    if (x->alsos < STORY_SITES)
        x->also[x->alsos++] = pc;
}

/* Did it make nothing but flags? Without lines it is no row beside that of its branch. */
static bool only_compares(const struct entry *e)
{
    return e->via && e->kind != SLICE_CONTROL && !e->via->memory && e->via->addr >= LOC_CF &&
           e->via->addr <= LOC_FLAGS_REST;
}

/* The row for an entry: that of its line; STORY_NONE: it has none, and none is to be made. */
static int32_t tell(struct search *t, const struct entry *e)
{
    const struct report_row *r = story_report_row(t, e->node);
    if (!is_shown(t, r) || (!r->file && only_compares(e)))
        return STORY_NONE;
    int32_t row = story_find_row(t, r, (enum race)e->race);
    enum story_how how = how_of(t, e);
    if (row != STORY_NONE && how == STORY_UNSET) {
        tell_unset(t, e, &t->out->row[row]);
        return row;
    }
    if (row != STORY_NONE && e->kind != SLICE_CONTROL)
        add_site(t, e, &t->out->row[row]);
    if (row != STORY_NONE && rank(how) <= rank(t->out->row[row].how))
        return row;
    if (row == STORY_NONE && t->out->rows == STORY_ROWS)
        return STORY_NONE;
    if (row == STORY_NONE)
        row = (int32_t)t->out->rows++;
    if (e->parent < row)
        describe(t, e, &t->out->row[row]);
    else if (how == STORY_OUTSIDE) /* for the line itself */
        t->out->row[row].how = how;
    return row;
}

/* ---- the search ---- */

/* Is it the stack pointer? Where frames lie says nothing. */
static bool is_stack(const struct flows_edge *x)
{
    return !x->memory && x->addr == loc_gpr(RSP);
}

/* An edge of a node: a new way. `run`: it goes on with a run of copies that the entry is in. */
static int go(struct search *t, uint32_t from, uint32_t node, const struct flows_edge *x, bool run,
              int32_t parent)
{
    struct slice_dependence d = flows_dependence(t->flows, node, x);
    enum race race = RACE_NONE;
    struct entry e = {.node = x->on,
                      .from = from,
                      .via = x,
                      .via_node = node,
                      .use = x,
                      .use_node = node,
                      .part = {.at = x->addr, .bytes = x->bytes},
                      .parent = parent,
                      .kind = (uint8_t)x->kind};
    e.base = from == STORY_NO_ENTRY ? 0 : t->entry[from].cost;
    bool goes_on = run && run_brings(t, &t->entry[from], x, &e.part) && !t->entry[from].mark;
    if (goes_on) {
        const struct entry *is = &t->entry[from];
        e.use = is->use;
        e.use_node = is->use_node;
        e.kind = is->kind;
        e.race = is->race;
        e.about = is->about;
        e.base = is->base;
        e.copies = is->copies + 1;
        e.rare = is->rare;
    } else if (run) {
        e.part.skip = (uint32_t)(e.part.at - x->addr);
        e.part.extended = false;
    }
    enum mark mark = MARK_NONE;
    if (node != FLOWS_CRITERION)
        mark =
            findings_mark(t->findings, &d, t->flows->row_of[node],
                          x->on == FLOWS_NOBODY ? UINT32_MAX : t->flows->row_of[x->on], &e.detail);
    if (mark == MARK_UNSET) { /* whoever wrote there before did it for something else */
        e.node = node;
        e.mark = e.about = (uint8_t)mark;
    }
    if (e.node == FLOWS_NOBODY || is_stack(x))
        return 0;
    int follow = run_follow(t, &e);
    if (follow <= 0)
        return follow;
    if (mark == MARK_UNSET) {
        e.cost = e.base + cost_fixed(COST_ERROR);
        return push(t, e);
    }
    if (marks_race(t->study, &d, &race, t->err))
        return -1;
    e.race = race > e.race ? (uint8_t)race : e.race;
    e.mark = (uint8_t)mark;
    unsigned rare = usual_rarity(t->usual, node, x);
    e.rare = rare > e.rare ? (uint8_t)rare : e.rare;
    uint32_t step = cost_of(t, &e);
    if (e.mark)
        e.about = e.mark;
    else if (from != STORY_NO_ENTRY && !run && cost_same_function(t, &e))
        e.about = t->entry[from].about;
    e.cost = e.base < UINT32_MAX - step ? e.base + step : UINT32_MAX;
    return push(t, e);
}

/* Goes through a copy. False: nothing is known of its source, it is where the value came from. */
static bool passes(struct search *t, uint32_t number)
{
    const struct entry *e = &t->entry[number];
    const struct flows_node *n = &t->flows->node[e->node];
    struct part part;
    uint32_t count;
    const struct flows_edge *x = flows_of(t->flows, e->node, &count);
    for (uint32_t i = 0; n->copy && e->via && e->kind != SLICE_CONTROL && i < count; i++)
        if (x[i].on != FLOWS_NOBODY && run_brings(t, e, &x[i], &part))
            return true;
    return false;
}

/* What a node depends on, by edges of these kinds. */
static int expand(struct search *t, uint32_t number, unsigned kinds, bool copy, int32_t parent)
{
    const struct entry e = t->entry[number];
    struct part part;
    uint32_t count;
    const struct flows_edge *x = flows_of(t->flows, e.node, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool run = copy && x[i].kind == SLICE_VALUE;
        if (!(x[i].kind & kinds) || (run && !run_brings(t, &e, &x[i], &part)))
            continue;
        if (go(t, number, e.node, &x[i], run, parent))
            return -1;
    }
    return 0;
}

/* What decided that a copy was made decided which value it is. */
static int expand_choice(struct search *t, uint32_t number, int32_t parent)
{
    t->entry[number].passed = true;
    return expand(t, number, SLICE_CONTROL, false, parent);
}

/* The line of a copy is offered as a row of its own. */
static int offer(struct search *t, uint32_t number)
{
    struct entry e = t->entry[number];
    const struct report_row *r = story_report_row(t, e.node);
    if (!is_shown(t, r) || story_find_row(t, r, RACE_NONE) != STORY_NONE)
        return 0;
    e.carried = true;
    e.cost += cost_fixed(COST_CARRYING);
    return push(t, e);
}

bool story_attached(const struct story_row *x, uint32_t row)
{
    for (uint32_t i = 0; i < x->decisions; i++)
        if (x->decision[i] == row)
            return true;
    for (uint32_t i = 0; i < x->parts; i++)
        if (x->part[i] == row)
            return true;
    for (uint32_t i = 0; i < x->calls; i++)
        if (x->call[i] == row)
            return true;
    return false;
}

/* Did a call make the frame of a row's function, not of one that only handed its value on? */
static bool calls_function_of(const struct search *t, const struct entry *e,
                              const struct report_row *is)
{
    struct source_line l;
    const struct report_row *r = story_report_row(t, e->via_node);
    return r && r->function == is->function &&
           study_line(t->study, t->flows->node[e->via_node].pc, &l);
}

/* A call is told with a row of the function that it called. */
static bool attach_call(struct story_row *x, uint32_t row)
{
    if (x->calls < STORY_CALLS && row != x->row)
        x->call[x->calls++] = row;
    return true;
}

/* What was computed in the function of a row is told with the row that was made from it. */
static bool attach_part(struct search *t, struct story_row *x, uint32_t row)
{
    const struct report_row *r = &t->report->row[row];
    if (!t->folds || row == x->row || x->parts == STORY_PARTS || !r->file ||
        story_find_row(t, r, RACE_NONE) != STORY_NONE)
        return false;
    x->part[x->parts++] = row;
    return true;
}

/* What decided in the function of a row is told with that row, and so is what else its line does.
 * False: it needs a row of its own. */
static bool attach(struct search *t, const struct entry *e)
{
    const struct report_row *r = story_report_row(t, e->node);
    struct story_row *x = &t->out->row[e->parent];
    uint32_t row = t->flows->row_of[e->node];
    if (e->from == STORY_NO_ENTRY || e->race || e->mark || !is_shown(t, r) ||
        (e->via->memory && how_of(t, e) == STORY_OUTSIDE))
        return false;
    if (story_attached(x, row))
        return true;
    const struct report_row *is = &t->report->row[x->row];
    if (e->kind == SLICE_CONTROL && t->flows->node[e->node].call && is->thread == r->thread)
        return !calls_function_of(t, e, is) || attach_call(x, row);
    if (is->thread != r->thread || is->function != r->function)
        return false;
    if (e->kind != SLICE_CONTROL)
        return attach_part(t, x, row);
    if (row != x->row && x->decisions == STORY_DECISIONS)
        return false;
    if (row != x->row)
        x->decision[x->decisions++] = row;
    return true;
}

/* Would it make a row that the story has not? */
static bool told_anew(struct search *t, uint32_t number)
{
    const struct entry *e = &t->entry[number];
    const struct report_row *r = story_report_row(t, e->node);
    return is_shown(t, r) && story_find_row(t, r, (enum race)e->race) == STORY_NONE && !e->race &&
           !story_attached(&t->out->row[e->parent], t->flows->row_of[e->node]) && !e->mark &&
           e->kind != SLICE_CONTROL && (e->carried || !passes(t, number));
}

/* What decided is told for a row that is told. */
static int take(struct search *t, uint32_t number)
{
    const unsigned data = SLICE_VALUE | SLICE_ADDRESS;
    uint32_t crowd = told_anew(t, number) ? cost_of_crowd(t, &t->entry[number]) : 0;
    if (crowd) {
        t->entry[number].cost += crowd;
        return sift(t, number);
    }
    const struct entry e = t->entry[number];
    if (e.carried)
        return expand(t, number, SLICE_CONTROL, false, tell(t, &e));
    bool copy = passes(t, number);
    if (copy && !e.mark)
        return offer(t, number) || expand(t, number, data, true, e.parent) ||
               expand_choice(t, number, e.parent);
    int32_t row = attach(t, &e) ? e.parent : tell(t, &e);
    return row == STORY_NONE ? expand(t, number, data, copy, e.parent)
                             : expand(t, number, data | SLICE_CONTROL, copy, row);
}

/* The row that the story is of. */
static void begin_row(struct search *t)
{
    const struct report *r = t->report;
    uint32_t first = 0, node = t->known ? flows_find(t->flows, t->of->want[0].at) : FLOWS_NOBODY;
    t->out->row[0] = (struct story_row){.how = STORY_CRITERION, .cause_of = STORY_NONE};
    while (first < r->rows && r->row[first].distance)
        first++;
    if (t->known)
        first = node < t->flows->nodes ? t->flows->row_of[node] : UINT32_MAX;
    if (first >= r->rows)
        return;
    t->out->row[0].row = first;
    t->out->row[0].insn = t->known ? t->of->want[0].at : r->row[first].last;
    t->out->rows = 1;
}

/* What the criterion itself depends on: what is wanted, and instructions that are in it. */
static int begin(struct search *t)
{
    uint32_t count;
    const struct flows_edge *x = flows_of(t->flows, FLOWS_CRITERION, &count);
    begin_row(t);
    if (!t->out->rows)
        return 0;
    for (uint32_t i = 0; i < count && !t->known; i++)
        if (go(t, STORY_NO_ENTRY, FLOWS_CRITERION, &x[i], false, 0))
            return -1;
    for (size_t i = 0; i < t->of->wants; i++) {
        struct entry e = {
            .from = STORY_NO_ENTRY, .use_node = FLOWS_CRITERION, .kind = SLICE_CONTROL};
        e.node = t->of->want[i].kind == SLICE_USES ? flows_find(t->flows, t->of->want[i].at)
                                                   : FLOWS_NOBODY;
        if (e.node != FLOWS_NOBODY && push(t, e))
            return -1;
    }
    return 0;
}

/* How large a block was to be that was written beside: what its allocator was given. */
static int add_size(struct search *t, const struct findings_mark *m, uint32_t node)
{
    const struct flows *f = t->flows;
    uint32_t count;
    const struct flows_edge *x = flows_of(f, node, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct entry e = {.cost = cost_fixed(COST_SIZE),
                          .base = cost_fixed(COST_SIZE),
                          .node = x[i].on,
                          .from = STORY_NO_ENTRY,
                          .via = &x[i],
                          .via_node = node,
                          .use = &x[i],
                          .use_node = node,
                          .part = {.at = x[i].addr, .bytes = x[i].bytes},
                          .about = MARK_OVERFLOW,
                          .kind = SLICE_VALUE};
        bool given = !x[i].memory && x[i].kind == SLICE_VALUE &&
                     (x[i].addr == loc_gpr(RDI) || x[i].addr == loc_gpr(RSI));
        if (given && x[i].on < f->nodes && f->insn[x[i].on] < m->asked && push(t, e))
            return -1;
    }
    return 0;
}

static int add_sizes(struct search *t)
{
    const struct flows *f = t->flows;
    for (size_t i = 0; i < t->findings->marks; i++) {
        const struct findings_mark *m = &t->findings->mark[i];
        uint32_t node =
            m->mark == MARK_OVERFLOW && m->asked_last ? flows_after(f, m->asked) : f->nodes;
        for (; node < f->nodes && f->insn[node] <= m->asked_last; node++)
            if (add_size(t, m, node))
                return -1;
    }
    return 0;
}

/* The write that overflowed, or the read of what was freed, is where the search begins, too: one
 * of each kind. */
static int add_error(struct search *t, uint32_t node, const struct flows_edge *x)
{
    const struct flows *f = t->flows;
    if (!x->memory || x->on == FLOWS_NOBODY)
        return 0;
    struct slice_dependence d = flows_dependence(f, node, x);
    const char *detail = NULL;
    enum mark mark = findings_mark(t->findings, &d, f->row_of[node], f->row_of[x->on], &detail);
    if (mark == MARK_NONE || mark == MARK_UNSET || (t->begun & 1u << mark))
        return 0;
    t->begun |= 1u << mark;
    bool write = mark == MARK_OVERFLOW;
    return push(t, (struct entry){.cost = cost_fixed(COST_ERROR),
                                  .base = cost_fixed(COST_ERROR),
                                  .node = write ? x->on : node,
                                  .from = STORY_NO_ENTRY,
                                  .via = write ? x : NULL,
                                  .via_node = node,
                                  .use = x,
                                  .use_node = node,
                                  .part = {.at = x->addr, .bytes = x->bytes},
                                  .mark = (uint8_t)mark,
                                  .detail = detail,
                                  .about = (uint8_t)mark,
                                  .kind = SLICE_VALUE});
}

/* The latest first. */
static int add_errors(struct search *t)
{
    for (uint32_t node = t->flows->nodes; t->findings->marks && node-- > 0;) {
        uint32_t count;
        const struct flows_edge *x = flows_of(t->flows, node, &count);
        for (uint32_t i = 0; i < count; i++)
            if (add_error(t, node, &x[i]))
                return -1;
    }
    return 0;
}

static int by_insn(const void *a, const void *b)
{
    const struct story_row *x = *(struct story_row *const *)a, *y = *(struct story_row *const *)b;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static int find_positions(struct search *t)
{
    struct story_row *row[STORY_ROWS];
    uint64_t insn[STORY_ROWS];
    struct position at[STORY_ROWS];
    size_t rows = t->out->rows;
    for (size_t i = 0; i < rows; i++)
        row[i] = &t->out->row[i];
    qsort(row, rows, sizeof *row, by_insn);
    for (size_t i = 0; i < rows; i++)
        insn[i] = row[i]->insn;
    if (look_positions(t->study, insn, rows, at, t->err))
        return -1;
    for (size_t i = 0; i < rows; i++)
        row[i]->at = at[i];
    return 0;
}

/* Lines whose code is one with that of a row. */
static void find_merged(struct search *t, struct story_row *x, gaddr pc)
{
    const struct report_row *r = &t->report->row[x->row];
    uint32_t line[STORY_MERGED];
    size_t n = r->file ? source_lines_merged(t->study->source, pc, r->file, line, STORY_MERGED) : 0;
    for (size_t i = 0; i < n && x->mergeds < STORY_MERGED; i++) {
        bool known = false;
        for (uint32_t k = 0; k < x->mergeds; k++)
            known = known || x->merged[k] == line[i];
        if (!known)
            x->merged[x->mergeds++] = line[i];
    }
}

/* The same of all rows, with lines that are told with them. */
static void find_all_merged(struct search *t)
{
    const struct flows *f = t->flows;
    gaddr last = 0;
    for (uint32_t node = 0; node < f->nodes; node++) {
        uint32_t row = f->row_of[node];
        if (f->node[node].pc == last)
            continue;
        last = f->node[node].pc;
        for (size_t i = 0; i < t->out->rows; i++)
            if (t->out->row[i].row == row || story_attached(&t->out->row[i], row))
                find_merged(t, &t->out->row[i], last);
    }
}

static int run(struct search *t)
{
    t->seen = calloc(t->flows->edges + t->flows->wants + 1ull, 1);
    t->through = calloc(t->flows->edges + 1ull, sizeof *t->through);
    t->usual = usual_new(t->study, t->report);
    if (!t->seen || !t->through || !t->usual)
        return err_set(t->err, "no memory");
    int bad = begin(t) || add_sizes(t) || add_errors(t);
    unsigned more = t->folds ? FURTHER : 0;
    while (!bad && t->heaped && (t->out->rows < STORY_ROWS || more--))
        bad = take(t, pop(t));
    t->whole = !t->heaped;
    if (!bad && !t->known)
        find_all_merged(t);
    return bad || t->known ? bad : find_positions(t);
}

static int search(struct search *t)
{
    t->out = calloc(1, sizeof *t->out);
    int bad = t->out ? run(t) : err_set(t->err, "no memory");
    free(t->entry);
    free(t->heap);
    free(t->seen);
    free(t->through);
    free(t->passage);
    usual_free(t->usual);
    if (bad) {
        story_free(t->out);
        t->out = NULL;
    }
    return bad;
}

struct story *story_new(struct study *s, const struct report *r, const struct criterion *c,
                        const struct findings *f, struct err *err)
{
    const struct search new = {
        .study = s, .report = r, .flows = r->flows, .of = c, .findings = f, .err = err};
    struct search t = new;
    if (search(&t) || t.whole)
        return t.out;
    story_free(t.out); /* there is more to tell than rows */
    t = new;
    t.folds = true;
    search(&t);
    return t.out;
}

struct story *story_beside(struct study *s, const struct report *r, const struct criterion *c,
                           const struct findings *f, const struct report *known, struct err *err)
{
    struct search t = {.study = s,
                       .report = r,
                       .flows = r->flows,
                       .of = c,
                       .findings = f,
                       .known = known,
                       .err = err};
    search(&t);
    return t.out;
}

void story_free(struct story *t)
{
    free(t);
}

bool story_has(const struct story *t, uint32_t row)
{
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].row == row)
            return true;
    return false;
}
