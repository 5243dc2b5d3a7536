/* correct.c - what is left of a slice if other values are known to be right.
 *
 * SPDX-License-Identifier: MIT
 *
 * Edges come forwards, in the order of the node that depends, and lead backwards. So they are
 * listed, and one pass over the list from its end knows all of a node when it comes to its edges.
 */
#include "slicer/correct/correct.h"

#include <stdlib.h>

#include "base/array.h"
#include "slicer/correct/onetoone.h"
#include "slicer/slice_private.h"

struct edge {
    uint64_t node, on; /* node UINT64_MAX: a want itself */
};

struct job {
    struct trace_index *index;
    const struct slice_options *options;
    struct onetoone *map;
    bool strict;
    struct edge *edge;
    size_t edges, room;
    struct slice *verified; /* of the right slice */
};

static bool is_in(const struct slice *s, uint64_t insn)
{
    return insn != UINT64_MAX && slice_has(s, insn);
}

/* Keeps the edges of the right slice along which being right goes on. */
static int keep_right(void *arg, const struct slice_dependence *d)
{
    struct job *j = arg;
    const struct edge e = {d->node, d->on};
    if (d->on == SLICE_NOBODY || d->on == UINT64_MAX)
        return 0;
    bool passes = d->kind == SLICE_CONTROL ||
                  (d->kind == SLICE_VALUE && onetoone_covers(j->map, d->on_pc, d->bytes) &&
                   (d->node == UINT64_MAX || onetoone_edge(j->map, d, j->strict)));
    return passes ? array_push(&j->edge, &j->edges, &j->room, e) : 0;
}

/* Keeps all edges of the wrong slice. */
static int keep_wrong(void *arg, const struct slice_dependence *d)
{
    struct job *j = arg;
    const struct edge e = {d->node, d->on};
    return d->on == SLICE_NOBODY || d->on == UINT64_MAX
               ? 0
               : array_push(&j->edge, &j->edges, &j->room, e);
}

static int list_edges(struct job *j, const struct correct_slice *of, slice_edge_fn *fn,
                      struct err *err)
{
    j->edges = 0;
    err->msg[0] = 0;
    int bad = slice_edges(j->index, of->slice, of->want, of->wants, j->options, fn, j, err);
    return bad && !err->msg[0] ? err_set(err, "no memory") : bad;
}

static int verify(struct job *j, const struct correct_slice *right, struct err *err)
{
    if (list_edges(j, right, keep_right, err))
        return -1;
    int bad = 0;
    for (size_t i = 0; !bad && i < right->wants; i++)
        if (right->want[i].kind == SLICE_USES)
            bad = slice_put(j->verified, right->want[i].at);
    for (size_t i = j->edges; !bad && i-- > 0;)
        if (j->edge[i].node == UINT64_MAX)
            bad = slice_put(j->verified, j->edge[i].on);
    for (size_t i = j->edges; !bad && i-- > 0;)
        if (is_in(j->verified, j->edge[i].node))
            bad = slice_put(j->verified, j->edge[i].on);
    return bad ? err_set(err, "no memory") : 0;
}

/* What the wrong value depends on, not through what is verified. */
static int reach(struct job *j, const struct correct_slice *wrong, struct slice *out,
                 struct err *err)
{
    if (list_edges(j, wrong, keep_wrong, err))
        return -1;
    int bad = 0;
    for (size_t i = 0; !bad && i < wrong->wants; i++)
        if (wrong->want[i].kind == SLICE_USES && slice_has(wrong->slice, wrong->want[i].at))
            bad = slice_put(out, wrong->want[i].at);
    for (size_t i = j->edges; !bad && i-- > 0;)
        if (j->edge[i].node == UINT64_MAX && !is_in(j->verified, j->edge[i].on))
            bad = slice_put(out, j->edge[i].on);
    for (size_t i = j->edges; !bad && i-- > 0;)
        if (is_in(out, j->edge[i].node) && !is_in(j->verified, j->edge[i].on))
            bad = slice_put(out, j->edge[i].on);
    return bad ? err_set(err, "no memory") : 0;
}

struct slice *correct_prune(struct trace_index *index, const struct correct_slice *wrong,
                            const struct correct_slice *right, const struct slice_options *o,
                            bool strict, struct err *err)
{
    struct job j = {.index = index, .options = o, .strict = strict};
    if (slice_count(wrong->slice) > CORRECT_MOST || slice_count(right->slice) > CORRECT_MOST) {
        err_set(err,
                "a slice of more than %d M instructions is too large for --correct; "
                "`--window` or `--data` makes it smaller",
                CORRECT_MOST / 1000000);
        return NULL;
    }
    struct slice *out = slice_new(index->trace);
    j.map = onetoone_new(index->code);
    j.verified = slice_new(index->trace);
    int bad = out && j.map && j.verified ? verify(&j, right, err) || reach(&j, wrong, out, err)
                                         : err_set(err, "no memory");
    onetoone_free(j.map);
    slice_free(j.verified);
    free(j.edge);
    if (!bad)
        return out;
    slice_free(out);
    return NULL;
}
