/* cfg_support.c - see cfg_support.h. SPDX-License-Identifier: MIT */
#include "tests/unit/cfg_support.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static bool listed(const gaddr *list, gaddr pc)
{
    for (; list && *list; list++)
        if (*list == pc)
            return true;
    return false;
}

static size_t read_code(void *ctx, gaddr pc, uint8_t *buf, size_t bytes)
{
    const struct cfg_code *code = ctx;
    gaddr at = pc - code->base;
    if (at >= code->size)
        return 0;
    if (bytes > code->size - at)
        bytes = code->size - at;
    memcpy(buf, code->bytes + at, bytes);
    return bytes;
}

static bool is_entry(void *ctx, gaddr pc)
{
    return listed(((const struct cfg_code *)ctx)->entries, pc);
}

static size_t targets(void *ctx, gaddr pc, const gaddr **list)
{
    const struct cfg_jump *jump = ((const struct cfg_code *)ctx)->jumps;
    for (; jump && jump->pc; jump++)
        if (jump->pc == pc) {
            *list = jump->targets;
            return jump->count;
        }
    return 0;
}

static bool stays(void *ctx, gaddr pc)
{
    return listed(((const struct cfg_code *)ctx)->stays, pc);
}

static bool no_return(void *ctx, gaddr callee)
{
    return listed(((const struct cfg_code *)ctx)->no_return, callee);
}

struct cfg *cfg_support_new(const struct cfg_code *code)
{
    struct err err;
    struct cfg_program program = {.ctx = (void *)code,
                                  .read = read_code,
                                  .is_entry = is_entry,
                                  .targets = targets,
                                  .stays = stays,
                                  .no_return = code->no_return ? no_return : NULL};
    struct cfg *cfg = cfg_new(&program, &err);
    assert_non_null(cfg);
    return cfg;
}

const struct cfg_function *cfg_support_function(struct cfg *cfg, gaddr entry)
{
    struct err err;
    const struct cfg_function *f = cfg_function(cfg, entry, &err);
    assert_non_null(f);
    return f;
}

void cfg_naive_reaches(const struct cfg_naive *g, int32_t without, bool *reaches)
{
    memset(reaches, 0, g->nodes);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t n = (int32_t)g->nodes - 1; n >= 0; n--) {
            if (reaches[n] || n == without)
                continue;
            for (uint32_t i = g->at[n]; i < g->at[n + 1]; i++)
                if (g->succ[i] == CFG_EXIT || reaches[g->succ[i]])
                    changed = reaches[n] = true;
        }
    }
}

void cfg_naive_postdominators(const struct cfg_naive *g, bool *postdom)
{
    for (uint32_t m = 0; m < g->nodes; m++) {
        bool *row = postdom + (size_t)m * g->nodes;
        cfg_naive_reaches(g, (int32_t)m, row);
        for (uint32_t n = 0; n < g->nodes; n++)
            row[n] = !row[n];
    }
}

void cfg_naive_init(struct cfg_naive *g, const struct cfg_function *f)
{
    uint32_t edges = 0;
    g->nodes = cfg_block_count(f);
    for (uint32_t b = 0; b < g->nodes; b++)
        edges += cfg_block(f, (int32_t)b)->succs + 1;
    g->at = malloc((g->nodes + 1) * sizeof(g->at[0]));
    g->succ = malloc(edges * sizeof(g->succ[0]));
    assert_true(g->at && g->succ);
    edges = 0;
    for (uint32_t b = 0; b < g->nodes; b++) {
        const struct cfg_block *block = cfg_block(f, (int32_t)b);
        g->at[b] = edges;
        for (uint32_t i = 0; i < block->succs; i++)
            g->succ[edges++] = cfg_successors(f, (int32_t)b)[i];
        if (block->exits)
            g->succ[edges++] = CFG_EXIT;
    }
    g->at[g->nodes] = edges;
}

void cfg_naive_deinit(struct cfg_naive *g)
{
    free(g->at);
    free(g->succ);
}
