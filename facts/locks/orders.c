/* orders.c - orders of taking locks that could end in a deadlock. SPDX-License-Identifier: MIT */
#include "facts/locks/orders.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/order/numbers.h"

/* What is held when an event comes: numbers of events, of all threads. */
struct held {
    size_t *event;
    size_t count, room;
};

struct search {
    const struct locks *locks;
    struct orders *out;
    struct held held;
    struct numbers known;   /* edges: both places; and thread and number of the first two */
    struct numbers circled; /* circles that were told: the lowest lock, a hash of all */
};

static const struct locks_event *event_of(const struct search *q, size_t i)
{
    return &q->locks->event[i];
}

/* ---- edges ---- */

/* The same two calls of a thread make the same edge again and again. */
static bool is_known(struct search *q, size_t held, size_t taken)
{
    const struct locks_event *a = event_of(q, held), *b = event_of(q, taken);
    size_t count = q->known.count;
    uint32_t locks = numbers_add(&q->known, a->lock, b->lock);
    uint32_t lines = numbers_add(&q->known, a->line_pc, b->line_pc);
    numbers_add(&q->known, (uint64_t)locks << 32 | lines, ~(uint64_t)a->thread);
    return q->known.count == count;
}

static int add_edge(struct search *q, size_t held, size_t taken, struct err *err)
{
    struct orders *o = q->out;
    struct orders_edge e = {.held = held, .taken = taken, .gate_at = o->gates};
    if (event_of(q, taken)->tried || is_known(q, held, taken))
        return 0;
    for (size_t i = 0; i < q->held.count; i++) {
        const struct locks_event *g = event_of(q, q->held.event[i]);
        if (g->thread != event_of(q, taken)->thread || g->shared || q->held.event[i] == held)
            continue;
        if (array_push(&o->gate, &o->gates, &o->gate_room, g->lock))
            return err_set(err, "no memory");
        e.gates++;
    }
    return array_push(&o->edge, &o->edges, &o->edge_room, e) ? err_set(err, "no memory") : 0;
}

static int take_event(struct search *q, size_t i, struct err *err)
{
    const struct locks_event *e = event_of(q, i);
    struct held *h = &q->held;
    for (size_t k = 0; e->take && k < h->count; k++)
        if (event_of(q, h->event[k])->thread == e->thread && add_edge(q, h->event[k], i, err))
            return -1;
    if (e->take)
        return array_push(&h->event, &h->count, &h->room, i) ? err_set(err, "no memory") : 0;
    for (size_t k = 0; k < h->count; k++) {
        const struct locks_event *t = event_of(q, h->event[k]);
        if (t->lock == e->lock && t->thread == e->thread) {
            memmove(&h->event[k], &h->event[k + 1], sizeof *h->event * (--h->count - k));
            break;
        }
    }
    return 0;
}

/* ---- circles ---- */

static bool have_gate(const struct orders *o, const struct orders_edge *a,
                      const struct orders_edge *b)
{
    for (size_t i = 0; i < a->gates; i++)
        for (size_t k = 0; k < b->gates; k++)
            if (o->gate[a->gate_at + i] == o->gate[b->gate_at + k])
                return true;
    return false;
}

/* Can `next` come behind the edges of the circle, at the same time as all of them? */
static bool fits(const struct search *q, const struct orders_circle *c,
                 const struct orders_edge *next)
{
    const struct orders *o = q->out;
    const struct orders_edge *last = &o->edge[c->edge[c->edges - 1]];
    const struct locks_event *wanted = event_of(q, last->taken), *has = event_of(q, next->held);
    if (wanted->lock != has->lock || (wanted->shared && has->shared))
        return false;
    for (unsigned i = 0; i < c->edges; i++) {
        const struct orders_edge *e = &o->edge[c->edge[i]];
        if (event_of(q, e->held)->thread == has->thread || have_gate(o, e, next))
            return false;
    }
    return true;
}

/* Is it one of the same locks as one that was told? */
static bool is_told(struct search *q, const struct orders_circle *c)
{
    uint64_t sum = 0, lowest = UINT64_MAX;
    size_t count = q->circled.count;
    for (unsigned i = 0; i < c->edges; i++) {
        gaddr lock = event_of(q, q->out->edge[c->edge[i]].held)->lock;
        sum += lock * lock;
        lowest = lock < lowest ? lock : lowest;
    }
    numbers_add(&q->circled, lowest, sum);
    return q->circled.count == count;
}

static int extend(struct search *q, struct orders_circle *c, struct err *err)
{
    struct orders *o = q->out;
    const struct orders_edge *first = &o->edge[c->edge[0]];
    const struct orders_edge *last = &o->edge[c->edge[c->edges - 1]];
    const struct locks_event *wanted = event_of(q, last->taken), *has = event_of(q, first->held);
    if (c->edges > 1 && wanted->lock == has->lock && !(wanted->shared && has->shared)) {
        if (is_told(q, c))
            return 0;
        return array_push(&o->circle, &o->circles, &o->circle_room, *c) ? err_set(err, "no memory")
                                                                        : 0;
    }
    for (size_t i = c->edge[0] + 1; c->edges < ORDERS_LONGEST && i < o->edges; i++) {
        if (!fits(q, c, &o->edge[i]))
            continue;
        c->edge[c->edges++] = i;
        if (extend(q, c, err))
            return -1;
        c->edges--;
    }
    return 0;
}

int orders_find(const struct locks *l, struct orders *out, struct err *err)
{
    struct search q = {.locks = l, .out = out};
    int bad = 0;
    *out = (struct orders){0};
    for (size_t i = 0; !bad && i < l->events; i++)
        bad = take_event(&q, i, err);
    for (size_t i = 0; !bad && i < out->edges; i++) {
        struct orders_circle c = {.edge = {i}, .edges = 1};
        bad = extend(&q, &c, err);
    }
    free(q.held.event);
    numbers_deinit(&q.known);
    numbers_deinit(&q.circled);
    if (bad)
        orders_deinit(out);
    return bad;
}

void orders_deinit(struct orders *o)
{
    free(o->edge);
    free(o->gate);
    free(o->circle);
    *o = (struct orders){0};
}
