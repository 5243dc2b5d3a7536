/* run.c - runs of copies: which bytes go through them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A copy may carry more bytes than the use at the end of its run took: other bytes of a struct that
 * was copied by vector registers, say. The code that made those has no part in the use. So a way
 * knows its bytes at each step, and an edge may be followed several times, each time for other
 * bytes.
 */
#include "base/array.h"
#include "slicer/story/story_int.h"

enum { PASSAGES_MOST = 64 }; /* through one edge */

bool run_brings(const struct search *t, const struct entry *e, const struct flows_edge *x,
                struct part *out)
{
    const struct copy *c = &t->flows->copy[t->flows->node[e->node].copy - 1];
    uint64_t at = e->part.at, bytes = e->part.bytes;
    if (x->kind != SLICE_VALUE || x->memory != c->from_memory || e->via->memory != c->to_memory ||
        !copy_source(c, &at, &bytes))
        return false;
    uint64_t first = at > x->addr ? at : x->addr, end = x->addr + x->bytes;
    end = end < at + bytes ? end : at + bytes;
    if (first >= end)
        return false;
    uint64_t to = c->to + (first - c->from); /* where the copy put the first of them */
    bool moved = !e->part.extended && to > e->part.at;
    *out = (struct part){.at = first,
                         .bytes = (uint32_t)(end - first),
                         .skip = e->part.skip + (moved ? (uint32_t)(to - e->part.at) : 0),
                         .extended = e->part.extended || to < e->part.at};
    return true;
}

static uint8_t *seen_of(struct search *t, const struct entry *e)
{
    const struct flows *f = t->flows;
    return e->via_node == FLOWS_CRITERION ? &t->seen[f->edges + (e->via - f->wanted)]
                                          : &t->seen[e->via - f->edge];
}

/* With some of its bytes. */
static int follow_part(struct search *t, const struct entry *e)
{
    uint32_t *latest = &t->through[e->via - t->flows->edge];
    unsigned count = 0;
    for (uint32_t i = *latest; i; i = t->passage[i - 1].next, count++) {
        const struct passage *p = &t->passage[i - 1];
        if (p->kind == e->kind && p->at <= e->part.at &&
            p->at + p->bytes >= e->part.at + e->part.bytes)
            return 0;
    }
    if (count == PASSAGES_MOST)
        return 0; /* the best came first */
    const struct passage new = {
        .at = e->part.at, .bytes = e->part.bytes, .next = *latest, .kind = e->kind};
    if (array_push(&t->passage, &t->passages, &t->passage_room, new))
        return err_set(t->err, "no memory");
    *latest = (uint32_t)t->passages;
    return 1;
}

int run_follow(struct search *t, const struct entry *e)
{
    uint8_t *seen = seen_of(t, e);
    if (*seen & e->kind)
        return 0;
    if (e->via_node != FLOWS_CRITERION && e->part.bytes < e->via->bytes)
        return follow_part(t, e);
    *seen |= e->kind;
    return 1;
}

struct slice_dependence run_begin(const struct search *t, const struct entry *e)
{
    struct slice_dependence d = flows_dependence(t->flows, e->via_node, e->via);
    d.addr = e->part.at;
    d.bytes = e->part.bytes;
    return d;
}

struct slice_dependence run_end(const struct search *t, const struct entry *e)
{
    struct slice_dependence d = flows_dependence(t->flows, e->use_node, e->use);
    d.addr += e->part.skip;
    d.bytes = e->part.bytes;
    return d;
}
