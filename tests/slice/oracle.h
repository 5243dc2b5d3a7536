/* oracle.h - slices by brute force, to compare slicer/ with.
 *
 * SPDX-License-Identifier: MIT
 *
 * Written from docs/slicing.md. It shares with slicer/ the trace and the def/use sets, and is told
 * what call frame information says; nothing else: the whole trace is walked forwards, with a shadow
 * that says for each byte which instruction gave it its value, and becomes one graph; a slice is
 * what can be reached in it. Points at which something is wanted are known before the walk, since
 * the shadow is only there then.
 */
#ifndef TESTS_SLICE_ORACLE_H
#define TESTS_SLICE_ORACLE_H

#include "slicer/slice.h"

struct pinball;

struct oracle;
struct oracle_graphs;

struct source;

/* Graphs of functions, for all oracles of a trace. Facts, which may be NULL, say which
 * functions never return, as def/use sets say what instructions do. */
struct oracle_graphs *oracle_graphs_new(struct trace *trace, struct pinball *pinball,
                                        struct source *facts);
void oracle_graphs_free(struct oracle_graphs *graphs); /* NULL is allowed */

/* What call frame information says: the offsets from the CFA that rows of the entry for pc have for
 * a register. Their number, at most `room`. */
struct oracle_facts {
    size_t (*slots)(void *ctx, gaddr pc, unsigned reg, int64_t *out, size_t room);
    void *ctx;
};

struct oracle_options {
    bool keep_saves, stack_pointer, relocated;
    unsigned max_save;
    const struct oracle_facts *facts; /* NULL: none */
    const struct slice_prune *prune;
    size_t prunes;
};

/* Walks over the trace. `want` are all that will be asked for, sorted by `at`. */
struct oracle *oracle_new(struct trace *trace, struct oracle_graphs *graphs,
                          const struct oracle_options *options, const struct slice_want *want,
                          size_t wants, struct err *err);
void oracle_free(struct oracle *o); /* NULL is allowed */

enum oracle_how {
    ORACLE_OUT,
    ORACLE_WANTED,
    ORACLE_VALUE,
    ORACLE_ADDRESS,
    ORACLE_CONTROL,
};

/* Why a node is in a slice: another one, `from`, depends on it in this way. */
struct oracle_reason {
    uint32_t from;
    uint8_t how; /* enum oracle_how */
};

/* The slice of `count` wants from number w on: a reason for each node. To be freed by the caller.
 */
struct oracle_reason *oracle_slice(const struct oracle *o, size_t w, size_t count, unsigned edges);

/* What the walk has seen of a node. */
struct oracle_node {
    uint32_t block;
    uint16_t insn; /* in the block */
    uint16_t thread;
    uint32_t control; /* the node it depends on by control, plus one; 0: none */
    uint32_t frame;   /* number of the frame that it was executed in */
    gaddr entry;      /* of that frame */
    gaddr cfa;        /* likewise; 0: none */
};
const struct oracle_node *oracle_node(const struct oracle *o, uint64_t node);

/* How m depends on n, directly: bits of enum slice_edge. What is kept in a location counts. */
unsigned oracle_depends(const struct oracle *o, uint32_t m, uint32_t n);

#endif
