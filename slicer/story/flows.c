/* flows.c - the dependences between executed instructions of a slice. SPDX-License-Identifier: MIT
 */
#include "slicer/story/flows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

enum { BYTES_MOST = (1 << 28) - 1 };

struct flows *flows_new(uint32_t nodes)
{
    struct flows *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->insn = malloc(sizeof *f->insn * (nodes + 1ull));
    f->row_of = malloc(sizeof *f->row_of * (nodes + 1ull));
    f->node = calloc(nodes + 1ull, sizeof *f->node);
    if (f->insn && f->row_of && f->node)
        return f;
    flows_free(f);
    return NULL;
}

void flows_free(struct flows *f)
{
    if (!f)
        return;
    free(f->insn);
    free(f->row_of);
    free(f->node);
    free(f->edge);
    free(f->wanted);
    free(f->copy);
    free(f);
}

void flows_list(struct flows *f, uint32_t node, uint64_t insn, uint32_t row, const struct insn *in)
{
    f->node[node].outside = in->kind == INSN_SYSCALL;
    f->node[node].call = in->kind == INSN_CALL || in->kind == INSN_CALL_IND;
    f->node[node].branch = in->kind == INSN_JCC;
    f->node[node].loop = in->kind == INSN_JCC && in->target < in->pc;
    f->insn[node] = insn;
    f->row_of[node] = row;
    f->nodes = node + 1;
}

/* Nodes come in order; one without edges begins where the next one does. */
static int begin(struct flows *f, uint32_t node, const struct slice_dependence *d)
{
    struct flows_node *n = &f->node[node];
    for (; f->last <= node; f->last++)
        f->node[f->last].first = f->edges;
    n->pc = d->node_pc;
    n->cfa = d->node_cfa;
    n->thread = d->node_thread;
    if (!d->copy || n->copy)
        return 0;
    if (array_push(&f->copy, &f->copies, &f->copy_room, *d->copy))
        return -1;
    n->copy = f->copies;
    return 0;
}

int flows_add(struct flows *f, uint32_t node, uint32_t on, const struct slice_dependence *d)
{
    const struct flows_edge e = {
        d->addr, on, d->bytes < BYTES_MOST ? (uint32_t)d->bytes & BYTES_MOST : BYTES_MOST,
        d->kind & 7, d->memory};
    if (on != FLOWS_NOBODY) { /* it may have no edges itself */
        f->node[on].pc = d->on_pc;
        f->node[on].cfa = d->on_cfa;
        f->node[on].thread = d->on_thread;
    }
    if (node == FLOWS_CRITERION)
        return array_push(&f->wanted, &f->wants, &f->want_room, e);
    return f->edges == UINT32_MAX || begin(f, node, d)
               ? -1
               : array_push(&f->edge, &f->edges, &f->edge_room, e);
}

const struct flows_edge *flows_of(const struct flows *f, uint32_t node, uint32_t *count)
{
    if (node == FLOWS_CRITERION) {
        *count = f->wants;
        return f->wanted;
    }
    uint32_t first = node < f->last ? f->node[node].first : f->edges;
    uint32_t end = node + 1 < f->last ? f->node[node + 1].first : f->edges;
    *count = end - first;
    return f->edge + first;
}

struct slice_dependence flows_dependence(const struct flows *f, uint32_t node,
                                         const struct flows_edge *e)
{
    struct slice_dependence d = {.node = UINT64_MAX,
                                 .on = SLICE_NOBODY,
                                 .kind = e->kind,
                                 .memory = e->memory,
                                 .addr = e->addr,
                                 .bytes = e->bytes};
    if (node != FLOWS_CRITERION) {
        const struct flows_node *n = &f->node[node];
        d.node = f->insn[node];
        d.node_thread = n->thread;
        d.node_pc = n->pc;
        d.node_cfa = n->cfa;
    }
    if (e->on != FLOWS_NOBODY) {
        const struct flows_node *on = &f->node[e->on];
        d.on = f->insn[e->on];
        d.on_thread = on->thread;
        d.on_pc = on->pc;
        d.on_cfa = on->cfa;
    }
    return d;
}

uint32_t flows_after(const struct flows *f, uint64_t insn)
{
    return (uint32_t)search_first(f->nodes, i, f->insn[i] < insn);
}

uint32_t flows_find(const struct flows *f, uint64_t insn)
{
    uint32_t at = flows_after(f, insn);
    return at < f->nodes && f->insn[at] == insn ? at : FLOWS_NOBODY;
}
