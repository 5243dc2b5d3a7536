/* postdom.c - post-dominators of a function's blocks.
 *
 * SPDX-License-Identifier: MIT
 *
 * The algorithm of Lengauer and Tarjan ("A Fast Algorithm for Finding Dominators in a Flowgraph",
 * 1979), the simpler of its two forms, O(edges * log blocks), on the graph with its edges turned
 * around and the exit as root. Nodes are named by their numbers in a depth-first search from the
 * exit, which is number 0; a parent has a smaller number than its children in the search, and a
 * dominator than what it dominates. Nothing recurses: functions have up to 100,000s of blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/graph/cfg_private.h"

#define UNSEEN UINT32_MAX

struct job {
    struct cfg_function *f;
    uint32_t *memory; /* behind all of these */
    /* By block. */
    uint32_t *pred_at; /* one more than blocks */
    uint32_t *pred;    /* by edge */
    uint32_t *number;  /* in the search */
    uint32_t *cursor;  /* in pred */
    uint32_t *stack;
    /* By number. */
    uint32_t *block, *parent, *semi, *label, *ancestor, *idom;
    uint32_t *bucket, *bucket_next; /* lists, 0: end */
    uint32_t *size, *next;          /* of subtrees of dominators */
    uint32_t numbers;
};

static uint32_t *take(uint32_t **from, size_t count)
{
    uint32_t *part = *from;
    *from += count;
    return part;
}

static int init(struct job *j)
{
    uint32_t n = j->f->blocks;
    size_t edges = n ? j->f->block[n - 1].succ_at + (size_t)j->f->block[n - 1].succs : 0;
    uint32_t *rest = j->memory = malloc((14 * ((size_t)n + 1) + edges) * sizeof(*rest));
    if (!rest)
        return -1;
    uint32_t **arrays[] = {&j->pred_at,     &j->number, &j->cursor, &j->stack,    &j->block,
                           &j->parent,      &j->semi,   &j->label,  &j->ancestor, &j->idom,
                           &j->bucket_next, &j->bucket, &j->size,   &j->next};
    for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
        *arrays[i] = take(&rest, (size_t)n + 1);
    j->pred = take(&rest, edges);
    return 0;
}

/* Edges turned around, but for those to the exit. */
static void make_preds(struct job *j)
{
    struct cfg_function *f = j->f;
    memset(j->pred_at, 0, ((size_t)f->blocks + 1) * sizeof(j->pred_at[0]));
    for (uint32_t b = 0; b < f->blocks; b++)
        for (uint32_t i = 0; i < f->block[b].succs; i++)
            j->pred_at[f->succ[f->block[b].succ_at + i] + 1]++;
    for (uint32_t b = 0; b < f->blocks; b++)
        j->pred_at[b + 1] += j->pred_at[b];
    memcpy(j->cursor, j->pred_at, f->blocks * sizeof(j->cursor[0]));
    for (uint32_t b = 0; b < f->blocks; b++)
        for (uint32_t i = 0; i < f->block[b].succs; i++)
            j->pred[j->cursor[f->succ[f->block[b].succ_at + i]]++] = b;
}

static void visit(struct job *j, uint32_t block, uint32_t parent)
{
    uint32_t number = j->numbers++;
    j->number[block] = number;
    j->block[number] = block;
    j->parent[number] = parent;
    j->cursor[block] = j->pred_at[block];
}

/* Visits all blocks that lead to `block` and were not seen yet. */
static void search(struct job *j, uint32_t block)
{
    uint32_t depth = 0;
    if (j->number[block] != UNSEEN)
        return;
    visit(j, block, 0);
    j->stack[depth++] = block;
    while (depth > 0) {
        uint32_t at = j->stack[depth - 1];
        if (j->cursor[at] == j->pred_at[at + 1]) {
            depth--;
            continue;
        }
        uint32_t pred = j->pred[j->cursor[at]++];
        if (j->number[pred] != UNSEEN)
            continue;
        visit(j, pred, j->number[at]);
        j->stack[depth++] = pred;
    }
}

static int by_last_descending(const void *a, const void *b)
{
    const struct cfg_block *x = *(struct cfg_block *const *)a, *y = *(struct cfg_block *const *)b;
    return (x->last < y->last) - (x->last > y->last);
}

/* Rule 3. The highest instruction that does not reach the exit is the last one of its block. */
static int open_endless_loops(struct job *j)
{
    struct cfg_function *f = j->f;
    uint32_t rest = 0, left = f->blocks - (j->numbers - 1);
    if (!left)
        return 0;
    struct cfg_block **list = malloc(left * sizeof(*list));
    if (!list)
        return -1;
    for (uint32_t b = 0; b < f->blocks; b++)
        if (j->number[b] == UNSEEN)
            list[rest++] = &f->block[b];
    qsort(list, rest, sizeof(*list), by_last_descending);
    for (uint32_t i = 0; i < rest; i++) {
        uint32_t b = (uint32_t)(list[i] - f->block);
        if (j->number[b] != UNSEEN)
            continue;
        f->block[b].exits = true;
        search(j, b);
    }
    free(list);
    return 0;
}

static int number_blocks(struct job *j)
{
    struct cfg_function *f = j->f;
    memset(j->number, 0xff, f->blocks * sizeof(j->number[0]));
    j->numbers = 1;
    j->parent[0] = 0;
    for (uint32_t b = 0; b < f->blocks; b++)
        if (f->block[b].exits)
            search(j, b);
    return open_endless_loops(j);
}

/* The node with the smallest `semi` on the way from v up to the root of its tree in the forest,
 * without that root. */
static uint32_t eval(struct job *j, uint32_t v)
{
    uint32_t depth = 0;
    if (j->ancestor[v] == UNSEEN)
        return v;
    for (uint32_t u = v; j->ancestor[j->ancestor[u]] != UNSEEN; u = j->ancestor[u])
        j->stack[depth++] = u;
    while (depth > 0) {
        uint32_t u = j->stack[--depth], up = j->ancestor[u];
        if (j->semi[j->label[up]] < j->semi[j->label[u]])
            j->label[u] = j->label[up];
        j->ancestor[u] = j->ancestor[up];
    }
    return j->label[v];
}

/* Those whose semidominator is the parent of v: the dominator is that, or is the one of `u`. */
static void empty_bucket(struct job *j, uint32_t parent)
{
    for (uint32_t w = j->bucket[parent]; w; w = j->bucket_next[w]) {
        uint32_t u = eval(j, w);
        j->idom[w] = j->semi[u] < j->semi[w] ? u : parent;
    }
    j->bucket[parent] = 0;
}

static void find_dominators(struct job *j)
{
    struct cfg_function *f = j->f;
    for (uint32_t v = 0; v < j->numbers; v++) {
        j->semi[v] = j->label[v] = v;
        j->ancestor[v] = UNSEEN;
        j->bucket[v] = 0;
    }
    for (uint32_t v = j->numbers - 1; v > 0; v--) {
        const struct cfg_block *block = &f->block[j->block[v]];
        if (block->exits)
            j->semi[v] = 0;
        for (uint32_t i = 0; i < block->succs; i++) {
            uint32_t u = eval(j, j->number[f->succ[block->succ_at + i]]);
            if (j->semi[u] < j->semi[v])
                j->semi[v] = j->semi[u];
        }
        j->bucket_next[v] = j->bucket[j->semi[v]];
        j->bucket[j->semi[v]] = v;
        j->ancestor[v] = j->parent[v];
        empty_bucket(j, j->parent[v]);
    }
    j->idom[0] = 0;
    for (uint32_t v = 1; v < j->numbers; v++)
        if (j->idom[v] != j->semi[v])
            j->idom[v] = j->idom[j->idom[v]];
}

/* Ranges in a preorder of the tree make "is above" one comparison. */
static void store(struct job *j)
{
    struct cfg_function *f = j->f;
    for (uint32_t v = 0; v < j->numbers; v++)
        j->size[v] = 1;
    for (uint32_t v = j->numbers - 1; v > 0; v--)
        j->size[j->idom[v]] += j->size[v];
    j->next[0] = 1;
    for (uint32_t v = 1; v < j->numbers; v++) {
        struct cfg_block *block = &f->block[j->block[v]];
        uint32_t idom = j->idom[v];
        block->ipdom = idom ? (int32_t)j->block[idom] : CFG_EXIT;
        block->tree_at = j->next[idom];
        block->tree_size = j->size[v];
        j->next[idom] += j->size[v];
        j->next[v] = block->tree_at + 1;
    }
}

int postdom_compute(struct cfg_function *f)
{
    struct job j = {.f = f};
    int result = -1;
    if (init(&j) == 0) {
        make_preds(&j);
        result = number_blocks(&j);
    }
    if (result == 0) {
        find_dominators(&j);
        store(&j);
    }
    free(j.memory);
    return result;
}
