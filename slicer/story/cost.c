/* cost.c - what a step of the story costs.
 *
 * SPDX-License-Identifier: MIT
 *
 * The table is weights.def. A step costs what its kind does, and more or less for what is known of
 * the line that it leads to.
 */
#include "slicer/story/story_int.h"

enum weight {
#define WEIGHT(name, cost) WEIGHT_##name = (cost),
#include "slicer/story/weights.def"
#undef WEIGHT
};

enum { DEPTH_MOST = 9 }; /* rows from the criterion on: what is farther costs no less */

bool cost_is_constant(const struct search *t, uint32_t node)
{
    uint32_t count;
    const struct flows_edge *x = flows_of(t->flows, node, &count);
    for (uint32_t i = 0; i < count; i++)
        if (x[i].kind == SLICE_VALUE)
            return false;
    return true;
}

/* Is it code without source, which counts to the line of its call? */
static bool is_inside(const struct search *t, uint32_t node)
{
    struct source_line l;
    return node != FLOWS_CRITERION && !study_line(t->study, t->flows->node[node].pc, &l);
}

/* Memory that a library works on for the user: of a frame, a variable or a block. What is not
 * is the library's own, as the allocator's lists are. */
static bool is_users(const struct search *t, uint32_t node, const struct flows_edge *x)
{
    enum { STACK = 8 << 20 };
    const struct flows_node *n = &t->flows->node[node];
    const struct source_frame none = {0};
    char unused[64];
    if (!x->memory || (x->addr >= n->cfa && x->addr < n->cfa + STACK))
        return true;
    if (t->findings->heap &&
        heap_find(t->findings->heap, x->addr, t->flows->insn[node], true) != HEAP_NONE)
        return true;
    return source_variable(t->study->source, t->of->pc, &none, x->addr, x->bytes, unused,
                           sizeof unused);
}

/* How much more it costs to leave code without source. */
static int cost_of_inside(const struct search *t, const struct entry *e)
{
    if (!is_inside(t, e->use_node))
        return 0;
    if (e->kind == SLICE_CONTROL || !e->via || !is_users(t, e->via_node, e->via))
        return WEIGHT_INSIDE;
    return is_inside(t, e->node) ? WEIGHT_WRITTEN : WEIGHT_GIVEN;
}

/* The row of the report with the use. */
static const struct report_row *used_in(const struct search *t, uint32_t node)
{
    return node == FLOWS_CRITERION ? &t->report->row[t->out->row[0].row]
                                   : story_report_row(t, node);
}

bool cost_same_function(const struct search *t, const struct entry *e)
{
    const struct report_row *r = story_report_row(t, e->node), *user = used_in(t, e->use_node);
    return r && user && r->function == user->function;
}

/* Is the step a part of what was done wrong, and what does it cost then? */
static bool near_error(const struct entry *user, const struct entry *e, uint32_t *cost)
{
    if (!user->about || (e->kind == SLICE_VALUE && user->mark) ||
        (e->kind == SLICE_CONTROL && user->about != MARK_OVERFLOW))
        return false;
    *cost = e->kind == SLICE_ADDRESS ? WEIGHT_WHERE
            : e->kind == SLICE_VALUE ? WEIGHT_WITHIN
                                     : WEIGHT_WHETHER;
    return true;
}

static int log_of(uint64_t n)
{
    return n ? 63 - __builtin_clzll(n) : 0;
}

static int cost_of_control(const struct search *t, const struct entry *e)
{
    const struct flows_node *n = &t->flows->node[e->node];
    return n->call                    ? WEIGHT_CALL
           : n->loop                  ? WEIGHT_LOOP
           : cost_same_function(t, e) ? WEIGHT_BESIDE
                                      : WEIGHT_CONTROL;
}

/* Is it the constant that a sum or a counter began with? */
static bool starts_sum(const struct search *t, const struct entry *e, bool constant)
{
    return constant && e->kind == SLICE_VALUE && e->use_node != FLOWS_CRITERION &&
           usual_repeats(t->usual, t->flows->row_of[e->use_node]) && cost_same_function(t, e);
}

static uint32_t step_cost(const struct search *t, const struct entry *e)
{
    const struct flows *f = t->flows;
    const struct report_row *r = story_report_row(t, e->node);
    const struct entry *user = e->from == STORY_NO_ENTRY ? NULL : &t->entry[e->from];
    uint32_t near;
    if (e->race || e->mark)
        return WEIGHT_MARKED;
    if (r && r == used_in(t, e->use_node))
        return WEIGHT_SAME;
    if (r && story_find_row(t, r, RACE_NONE) != STORY_NONE)
        return WEIGHT_AGAIN;
    int cost = e->kind == SLICE_VALUE     ? WEIGHT_VALUE
               : e->kind == SLICE_ADDRESS ? WEIGHT_ADDRESS
                                          : cost_of_control(t, e);
    bool constant = e->kind != SLICE_CONTROL && cost_is_constant(t, e->node);
    if (e->kind == SLICE_ADDRESS && constant)
        cost += WEIGHT_FIXED;
    else if (user && near_error(user, e, &near))
        return near;
    if (e->kind == SLICE_CONTROL && user && user->passed)
        cost += WEIGHT_CHOICE;
    bool starts = starts_sum(t, e, constant);
    if (e->kind == SLICE_VALUE && constant)
        cost += starts ? WEIGHT_START : WEIGHT_CONSTANT;
    if (e->kind != SLICE_CONTROL && !starts)
        cost -= WEIGHT_RARE * e->rare;
    if (usual_opens(t->usual, f->row_of[e->node]))
        cost += WEIGHT_OPENING;
    cost += cost_of_inside(t, e);
    if (e->kind != SLICE_CONTROL && e->use_node != FLOWS_CRITERION)
        cost -= WEIGHT_AGE * log_of(f->insn[e->use_node] - f->insn[e->node]);
    if (r && !cost_same_function(t, e))
        cost += WEIGHT_OTHER;
    cost -= cost * WEIGHT_DECAY / 100 * (e->depth < DEPTH_MOST ? e->depth : DEPTH_MOST);
    return cost > 1 ? (uint32_t)cost : 1;
}

uint32_t cost_of(const struct search *t, struct entry *e)
{
    for (int32_t row = e->parent; row > 0 && e->depth < 100; row = t->out->row[row].cause_of)
        e->depth++;
    return step_cost(t, e) + WEIGHT_COPY * e->copies;
}

uint32_t cost_of_crowd(const struct search *t, struct entry *e)
{
    const struct report_row *r = story_report_row(t, e->node);
    uint8_t n = 0;
    bool told = false;
    for (size_t i = 0; r && i < t->out->rows; i++) {
        const struct report_row *x = &t->report->row[t->out->row[i].row];
        n += x->function == r->function;
        told = told || story_attached(&t->out->row[i], t->flows->row_of[e->node]);
    }
    uint32_t more = n > e->crowd ? (uint32_t)(n - e->crowd) * WEIGHT_CROWD : 0;
    e->crowd = n > e->crowd ? n : e->crowd;
    more += told && !e->again ? WEIGHT_TOLD : 0;
    e->again = e->again || told;
    return more;
}

uint32_t story_missed_cost(bool each)
{
    return each ? WEIGHT_NEARER : WEIGHT_MISSED;
}

uint32_t cost_fixed(enum cost_of what)
{
    const uint32_t costs[] = {
        [COST_CARRYING] = WEIGHT_CARRIED, [COST_ERROR] = WEIGHT_ERROR, [COST_SIZE] = WEIGHT_SIZE};
    return costs[what];
}
