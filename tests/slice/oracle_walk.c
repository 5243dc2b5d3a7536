/* oracle_walk.c - slices: what can be reached in the graph. SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/slice/oracle_int.h"

struct visit {
    source of;
    struct oracle_reason why;
};

struct walk {
    const struct oracle *o;
    struct oracle_reason *reason; /* by node */
    bool *linked;                 /* by link */
    struct visit *todo;
    size_t todos, room;
};

static void reach(struct walk *w, source of, struct oracle_reason why)
{
    struct visit v = {of, why};
    if (of)
        ORACLE_PUSH(w->todo, w->todos, w->room, v);
}

static void reach_deps(struct walk *w, uint32_t node, unsigned edges)
{
    const struct oracle *o = w->o;
    for (size_t i = o->dep_at[node]; i < o->dep_at[node + 1]; i++) {
        bool address = o->dep[i].kind == DEFUSE_ADDRESS;
        if (edges & (address ? SLICE_ADDRESS : SLICE_VALUE))
            reach(w, o->dep[i].of,
                  (struct oracle_reason){node, address ? ORACLE_ADDRESS : ORACLE_VALUE});
    }
    if (edges & SLICE_CONTROL)
        reach(w, o->node[node].control, (struct oracle_reason){node, ORACLE_CONTROL});
}

struct oracle_reason *oracle_slice(const struct oracle *o, size_t first, size_t count,
                                   unsigned edges)
{
    struct walk w = {.o = o,
                     .reason = oracle_zeros(o->nodes, sizeof *w.reason),
                     .linked = oracle_zeros(o->links, sizeof *w.linked)};
    for (const struct point *p = &o->point[first]; p < &o->point[first + count]; p++)
        for (size_t i = 0; i < p->count; i++)
            reach(&w, p->of[i], (struct oracle_reason){0, ORACLE_WANTED});
    while (w.todos) {
        struct visit v = w.todo[--w.todos];
        if (v.of & LINK) {
            const struct link *l = &o->link[v.of & ~LINK];
            bool *linked = &w.linked[v.of & ~LINK];
            for (int i = 0; i < 2 && !*linked; i++)
                reach(&w, l->of[i], v.why);
            *linked = true;
        } else if (!w.reason[v.of - 1].how) {
            w.reason[v.of - 1] = v.why;
            reach_deps(&w, v.of - 1, edges);
        }
    }
    free(w.linked);
    free(w.todo);
    return w.reason;
}

const struct oracle_node *oracle_node(const struct oracle *o, uint64_t node)
{
    return &o->node[node];
}

/* Links within links, as deep as is of interest to people. */
static bool leads_to(const struct oracle *o, source of, uint32_t n, int depth)
{
    for (int i = 0; (of & LINK) && i < 2 && depth > 0; i++)
        if (leads_to(o, o->link[of & ~LINK].of[i], n, depth - 1))
            return true;
    return of == n + 1;
}

unsigned oracle_depends(const struct oracle *o, uint32_t m, uint32_t n)
{
    unsigned edges = o->node[m].control == n + 1 ? SLICE_CONTROL : 0;
    for (size_t i = o->dep_at[m]; i < o->dep_at[m + 1]; i++)
        if (leads_to(o, o->dep[i].of, n, 16))
            edges |= o->dep[i].kind == DEFUSE_ADDRESS ? SLICE_ADDRESS : SLICE_VALUE;
    return edges;
}
