/* edges.h - why each node of a slice is in it.
 *
 * SPDX-License-Identifier: MIT
 *
 * A slice is a set; its edges are found again when they are wanted, in one pass forwards over the
 * trace that remembers who defined what last.
 */
#ifndef SLICER_WALK_EDGES_H
#define SLICER_WALK_EDGES_H

#include "slicer/slice.h"

struct copy;

/* As `on`: nobody defined the memory that the node reads; told if the options ask for it. */
#define SLICE_NOBODY (UINT64_MAX - 1)

struct slice_dependence {
    uint64_t node; /* depends ... */
    uint64_t on;   /* ... on this one, which is earlier */
    unsigned kind; /* one of enum slice_edge */
    bool memory;   /* what flows: `bytes` bytes at addr; else locations from `addr` on (enum loc) */
    uint64_t addr, bytes;            /* 0 for control */
    uint32_t node_thread, on_thread; /* as in trace_step.thread */
    gaddr node_pc, on_pc;
    gaddr node_cfa, on_cfa;  /* of the frames they were executed in; 0: not known */
    const struct copy *copy; /* what the node copies (copy.h), while it is told; NULL: it is none */
};

/* Told of all edges between nodes of the slice, in the order of `node`. What a want of the slice
 * (kind memory or register) itself depends on comes with node UINT64_MAX. `fn` returning other than
 * 0 ends it. Nodes before the option `first` are left out, and count for nobody. */
typedef int slice_edge_fn(void *arg, const struct slice_dependence *edge);
int slice_edges(struct trace_index *index, const struct slice *slice, const struct slice_want *want,
                size_t wants, const struct slice_options *options, slice_edge_fn *fn, void *arg,
                struct err *err);

/* The same of a forward slice or a chop: all edges between its nodes, which other instructions may
 * come between. What depends on a want that the slice is from (kind memory or register) comes with
 * `on` UINT64_MAX. */
struct slice_ends {
    const struct slice_want *from, *to; /* to: as above */
    size_t froms, tos;
};
int slice_edges_between(struct trace_index *index, const struct slice *slice,
                        const struct slice_ends *ends, const struct slice_options *options,
                        slice_edge_fn *fn, void *arg, struct err *err);

#endif
