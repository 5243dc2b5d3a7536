/* cfg_support.h - made-up code for trace/graph/cfg, and post-dominators by definition.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_CFG_SUPPORT_H
#define TESTS_UNIT_CFG_SUPPORT_H

#include "trace/graph/cfg.h"

struct cfg_jump {
    gaddr pc;
    size_t count;
    const gaddr *targets;
};

/* Lists of addresses end with a 0; NULL is an empty one. */
struct cfg_code {
    gaddr base;
    const uint8_t *bytes;
    size_t size;
    const gaddr *entries, *stays, *no_return;
    const struct cfg_jump *jumps; /* ends with a pc of 0 */
};

/* The callbacks for it; `code` must stay. Fails the test if there is no memory. */
struct cfg *cfg_support_new(const struct cfg_code *code);
const struct cfg_function *cfg_support_function(struct cfg *cfg, gaddr entry);

/* A graph: the successors of node n are succ[at[n]] to succ[at[n + 1] - 1], CFG_EXIT among them. */
struct cfg_naive {
    uint32_t nodes;
    uint32_t *at;
    int32_t *succ;
};

/* Which nodes reach the exit when node `without` is not there (-1: all are). */
void cfg_naive_reaches(const struct cfg_naive *g, int32_t without, bool *reaches);

/* Sets m * nodes + n of `postdom` if m post-dominates n or m == n. By definition: without m, n does
 * not reach the exit. All nodes must reach it. */
void cfg_naive_postdominators(const struct cfg_naive *g, bool *postdom);

/* The graph of a function's blocks; to be freed with cfg_naive_deinit(). */
void cfg_naive_init(struct cfg_naive *g, const struct cfg_function *f);
void cfg_naive_deinit(struct cfg_naive *g);

#endif
