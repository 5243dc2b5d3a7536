/* heap.c - the heap of a study, and how it is kept beside the trace. SPDX-License-Identifier: MIT
 */
#include "facts/heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "facts/heap/errors.h"
#include "facts/heap/packed.h"
#include "study/kept.h"

enum { VERSION = 8 };

/* What a kept heap begins with; the lists follow in this order. */
struct head {
    uint64_t functions, calls, stacks, frames, errors;
    uint64_t has_errors;
};

struct kept_function {
    gaddr entry;
    uint64_t row;
};

_Static_assert(sizeof(struct kept_function) % KEPT_WORD == 0 &&
                   sizeof(struct packed_call) % KEPT_WORD == 0 &&
                   sizeof(struct heap_stack) % KEPT_WORD == 0 &&
                   sizeof(struct heap_error) % KEPT_WORD == 0,
               "elements have whole words");

static void heap_free(void *made)
{
    struct heap *h = made;
    if (!h)
        return;
    heap_errors_free(h->errors);
    allocators_deinit(&h->functions);
    free(h->call);
    free(h->block);
    free(h->stack);
    free(h->frame);
    free(h->by_start);
    free(h->reach);
    free(h->same.slot);
    free(h->pool);
    free(h);
}

/* ---- keeping ---- */

static struct kept_fact fact_of(const struct heap *h)
{
    struct kept_fact f = {.name = h->pool ? "pool" : "heap", .version = VERSION};
    for (const char *p = h->pool; p && *p; p++)
        f.key = hash_fold(f.key, (unsigned char)*p);
    return f;
}

static size_t bytes_of(const struct head *n)
{
    return sizeof *n + n->functions * sizeof(struct kept_function) +
           n->calls * sizeof(struct packed_call) + n->stacks * sizeof(struct heap_stack) +
           n->frames * sizeof(gaddr) + n->errors * sizeof(struct heap_error);
}

void heap_keep(const struct heap *h, const struct study *s)
{
    struct kept_fact fact = fact_of(h);
    struct head n = {.functions = h->functions.count,
                     .calls = h->calls,
                     .stacks = h->stacks,
                     .frames = h->frames,
                     .errors = h->errors ? h->errors->count : 0,
                     .has_errors = h->errors != NULL};
    uint8_t *data = malloc(bytes_of(&n)), *to = data;
    struct kept_function *f = calloc(n.functions + 1, sizeof *f);
    struct packed_call *calls = packed_new(h);
    if (!data || !f || !calls) {
        free(data);
        free(f);
        free(calls);
        return; /* it is found out again */
    }
    memcpy(to, &n, sizeof n);
    to += sizeof n;
    for (size_t i = 0; i < h->functions.count; i++)
        f[i] = (struct kept_function){h->functions.list[i].entry, h->functions.list[i].row};
    to = kept_put_list(to, f, n.functions, sizeof *f);
    free(f);
    to = kept_put_list(to, calls, h->calls, sizeof *calls);
    free(calls);
    to = kept_put_list(to, h->stack, h->stacks, sizeof *h->stack);
    to = kept_put_list(to, h->frame, h->frames, sizeof *h->frame);
    to = kept_put_list(to, h->errors ? h->errors->list : NULL, n.errors, sizeof *h->errors->list);
    kept_put(s, &fact, data, (size_t)(to - data));
    free(data);
}

static bool is_number(uint32_t n, size_t count)
{
    return n == HEAP_NONE || n < count;
}

/* Nothing in it leads outside of it. */
static bool is_sound(const struct heap *h)
{
    for (size_t i = 0; i < h->stacks; i++)
        if ((size_t)h->stack[i].first + h->stack[i].count > h->frames)
            return false;
    for (size_t i = 0; h->errors && i < h->errors->count; i++) {
        const struct heap_error *e = &h->errors->list[i];
        if (e->kind >= HEAP_ERROR_KINDS || e->stack >= h->stacks ||
            !is_number(e->block, h->blocks) || !is_number(e->other, h->blocks) ||
            !is_number(e->call, h->calls))
            return false;
    }
    return true;
}

/* *calls is to be freed. */
static bool unpack(struct heap *h, const uint8_t *data, size_t bytes, struct packed_call **calls)
{
    static const uint64_t most = 1ull << 40;
    struct err unused;
    struct head n;
    if (bytes < sizeof n)
        return false;
    memcpy(&n, data, sizeof n);
    if (n.functions > most || n.calls > most || n.stacks > most || n.frames > most ||
        n.errors > most || bytes_of(&n) != bytes)
        return false;
    struct kept_function *f = NULL;
    const uint8_t *at = kept_get_list(data + sizeof n, &f, n.functions, sizeof *f);
    bool good = at != NULL;
    for (size_t i = 0; good && i < n.functions; i++)
        good = allocators_add(&h->functions, f[i].row, f[i].entry);
    free(f);
    h->errors = n.has_errors ? calloc(1, sizeof *h->errors) : NULL;
    if (!good || (n.has_errors && !h->errors) ||
        !(at = kept_get_list(at, calls, n.calls, sizeof **calls)) ||
        !(at = kept_get_list(at, &h->stack, n.stacks, sizeof *h->stack)) ||
        !(at = kept_get_list(at, &h->frame, n.frames, sizeof *h->frame)) ||
        (h->errors && !kept_get_list(at, &h->errors->list, n.errors, sizeof *h->errors->list)))
        return false;
    h->stacks = h->stack_room = n.stacks;
    h->frames = h->frame_room = n.frames;
    if (h->errors)
        h->errors->count = h->errors->room = n.errors;
    return packed_read(h, *calls, n.calls) && !heap_take_blocks(h, &unused) && is_sound(h);
}

/* ---- the heap of a study ---- */

static struct heap *heap_new(const char *pool, struct err *err)
{
    struct heap *h = calloc(1, sizeof *h);
    if (!h || (pool && !(h->pool = strdup(pool)))) {
        err_set(err, "no memory");
        free(h);
        return NULL;
    }
    return h;
}

static struct heap *heap_kept(struct study *s, const char *pool)
{
    struct err err;
    size_t bytes;
    struct heap *h = heap_new(pool, &err);
    if (!h)
        return NULL;
    struct kept_fact fact = fact_of(h);
    uint8_t *data = kept_get(s, &fact, &bytes);
    struct packed_call *calls = NULL;
    bool good =
        data && !allocators_names(&h->functions, pool, &err) && unpack(h, data, bytes, &calls);
    free(calls);
    free(data);
    if (good)
        return h;
    heap_free(h);
    return NULL;
}

static struct heap *heap_made(struct study *s, const char *pool, struct err *err)
{
    struct heap *h = heap_new(pool, err);
    if (!h)
        return NULL;
    if (allocators_init(&h->functions, s->source, pool, err) || heap_take_calls(h, s, err) ||
        heap_take_blocks(h, err)) {
        heap_free(h);
        return NULL;
    }
    heap_keep(h, s);
    return h;
}

static bool same_pool(const struct heap *h, const char *pool)
{
    return pool ? h->pool && strcmp(h->pool, pool) == 0 : !h->pool;
}

struct heap *heap_of(struct study *s, const char *pool, struct err *err)
{
    struct heap *h = s->fact[STUDY_HEAP].made;
    if (h && same_pool(h, pool))
        return h;
    heap_free(h);
    h = heap_kept(s, pool);
    h = h ? h : heap_made(s, pool, err);
    s->fact[STUDY_HEAP].made = h;
    s->fact[STUDY_HEAP].free = heap_free;
    return h;
}

gaddr heap_caller(const struct heap *h, struct study *s, uint32_t stack)
{
    struct source_line l;
    if (stack == HEAP_NONE || !h->stack[stack].count)
        return 0;
    const gaddr *frame = h->frame + h->stack[stack].first;
    for (uint32_t i = 0; i < h->stack[stack].count; i++)
        if (study_own(s, frame[i], &l))
            return frame[i];
    return frame[0];
}
