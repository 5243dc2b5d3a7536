/* flows.h - the dependences between executed instructions of a slice, all of them, in little
 * memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * A node is known by its place among the nodes that are listed, which are the last ones of the
 * slice if it has very many. Filled in the order in which slice_edges() tells of them.
 */
#ifndef SLICER_STORY_FLOWS_H
#define SLICER_STORY_FLOWS_H

#include "slicer/walk/copy.h"
#include "slicer/walk/edges.h"

#define FLOWS_CRITERION UINT32_MAX       /* as a node: what is wanted itself depends on something */
#define FLOWS_NOBODY    (UINT32_MAX - 1) /* as what it depends on */

struct flows_edge {
    uint64_t addr;
    uint32_t on;
    uint32_t bytes : 28; /* at the most */
    uint32_t kind : 3;   /* enum slice_edge */
    uint32_t memory : 1;
};

struct flows_node {
    gaddr pc, cfa;
    uint32_t thread; /* as in trace_step.thread */
    uint32_t first;  /* of its edges; the next one's first is behind its last */
    uint32_t copy;   /* number plus one of what it copies; 0: no copy */
    bool outside;    /* a system call */
    bool call;       /* of a function */
    bool branch;     /* that flags decide, ... */
    bool loop;       /* ... backwards */
};

struct flows {
    uint64_t *insn;   /* of nodes, ascending */
    uint32_t *row_of; /* and the rows of a report that they are in */
    struct flows_node *node;
    uint32_t nodes;
    struct flows_edge *edge; /* by node; those of the criterion are in `wanted` */
    uint32_t edges;
    struct flows_edge *wanted;
    uint32_t wants;
    struct copy *copy;
    uint32_t copies;
    size_t edge_room, want_room, copy_room;
    uint32_t last; /* node that was told of, plus one */
};

/* For `nodes` nodes at most. NULL: no memory. */
struct flows *flows_new(uint32_t nodes);
void flows_free(struct flows *f); /* NULL is allowed */

/* 0, or -1: no memory. */
int flows_add(struct flows *f, uint32_t node, uint32_t on, const struct slice_dependence *d);
/* A node that is listed: its row. */
void flows_list(struct flows *f, uint32_t node, uint64_t insn, uint32_t row, const struct insn *in);

/* The edges of a node, *count of them. */
const struct flows_edge *flows_of(const struct flows *f, uint32_t node, uint32_t *count);
/* An edge as it was told. */
struct slice_dependence flows_dependence(const struct flows *f, uint32_t node,
                                         const struct flows_edge *e);
/* The first node from this instruction on; f->nodes: none. */
uint32_t flows_after(const struct flows *f, uint64_t insn);
/* The node with this number; FLOWS_NOBODY: none. */
uint32_t flows_find(const struct flows *f, uint64_t insn);

#endif
