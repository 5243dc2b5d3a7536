/* allocators.c - functions that give out memory. SPDX-License-Identifier: MIT */
#include "facts/heap/allocators.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

enum { NO = HEAP_ONCE, MOST = 4096, DIGIT = 10 };

static const struct heap_function known[] = {
#define ALLOCATOR(name, does, family, size, times) {0, name, does, family, size, times, 0},
#include "facts/heap/allocators.def"
#undef ALLOCATOR
};

enum { KNOWN = sizeof known / sizeof *known };

struct search {
    struct heap_functions *out;
    bool found[2], failed;
};

/* Rows of the table, then those of the user's pair. KNOWN + 2: there is none. */
static uint64_t row_of(const struct heap_functions *f, const char *name)
{
    for (unsigned i = 0; i < 2; i++)
        if (f->pair[i].name && strcmp(f->pair[i].name, name) == 0)
            return KNOWN + i;
    for (unsigned i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0)
            return i;
    return KNOWN + 2;
}

bool allocators_add(struct heap_functions *f, uint64_t row, gaddr entry)
{
    if (row >= KNOWN + 2 || f->count == MOST)
        return false;
    struct heap_function new = row < KNOWN ? known[row] : f->pair[row - KNOWN];
    new.entry = entry;
    new.row = (uint16_t)row;
    return new.name && !array_push(&f->list, &f->count, &f->room, new);
}

static void take(void *arg, const char *name, gaddr pc)
{
    struct search *s = arg;
    uint64_t row = row_of(s->out, name);
    if (row == KNOWN + 2)
        return;
    if (row >= KNOWN)
        s->found[row - KNOWN] = true;
    s->failed |= !allocators_add(s->out, row, pc);
}

/* Aliases of one function: that of the user's pool counts, else the first of the table. */
static int by_entry(const void *a, const void *b)
{
    const struct heap_function *x = a, *y = b;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    if (heap_pool(x) != heap_pool(y))
        return heap_pool(x) ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int take_pool_name(struct heap_functions *f, unsigned which, struct err *err)
{
    char *text = f->pool[which], *colon = strrchr(text, ':'), *end = NULL;
    unsigned long argument = 1;
    /* C++ names have colons, too, but no number behind */
    if (colon && (argument = strtoul(colon + 1, &end, DIGIT), end != colon + 1) && !*end)
        *colon = 0;
    else
        argument = 1;
    if (!*text || argument < 1 || argument > HEAP_ARGUMENTS)
        return err_set(err, "an allocator is ALLOC,FREE or ALLOC:N,FREE:N, with N from 1 to %d",
                       HEAP_ARGUMENTS);
    f->pair[which] = (struct heap_function){.name = text,
                                            .does = which ? HEAP_FREES : HEAP_ALLOCATES,
                                            .family = HEAP_POOL,
                                            .size = (uint8_t)(argument - 1),
                                            .times = HEAP_ONCE};
    return 0;
}

int allocators_names(struct heap_functions *f, const char *pool, struct err *err)
{
    const char *comma = pool ? strchr(pool, ',') : NULL;
    *f = (struct heap_functions){0};
    if (!pool)
        return 0;
    if (!comma)
        return err_set(err, "an allocator is ALLOC,FREE: two functions");
    f->pool[0] = strndup(pool, (size_t)(comma - pool));
    f->pool[1] = strdup(comma + 1);
    for (unsigned i = 0; i < 2; i++)
        if (!f->pool[i])
            return err_set(err, "no memory");
        else if (take_pool_name(f, i, err))
            return -1;
    return 0;
}

int allocators_init(struct heap_functions *f, struct source *source, const char *pool,
                    struct err *err)
{
    struct search s = {.out = f};
    if (allocators_names(f, pool, err))
        return -1;
    source_symbols_each(source, take, &s);
    if (s.failed)
        return err_set(err, "no memory");
    for (unsigned i = 0; i < 2; i++)
        if (f->pool[i] && !s.found[i])
            return err_set(err, "there is no function %s", f->pool[i]);
    size_t kept = 0;
    if (f->count)
        qsort(f->list, f->count, sizeof *f->list, by_entry);
    for (size_t i = 0; i < f->count; i++)
        if (!kept || f->list[kept - 1].entry != f->list[i].entry)
            f->list[kept++] = f->list[i];
    f->count = kept;
    return 0;
}

void allocators_deinit(struct heap_functions *f)
{
    free(f->list);
    free(f->pool[0]);
    free(f->pool[1]);
    *f = (struct heap_functions){0};
}

const struct heap_function *allocators_at(const struct heap_functions *f, gaddr pc)
{
    const size_t i = search_below(f->list, f->count, entry, pc);
    return i < f->count && f->list[i].entry == pc ? &f->list[i] : NULL;
}
