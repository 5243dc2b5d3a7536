/* allocators.h - the functions of a program that give out memory and take it back.
 *
 * SPDX-License-Identifier: MIT
 *
 * They are known by symbol, in every module: libc's, a program's own, one that was preloaded. The
 * user may name the two functions of a pool, whose blocks then lie in those of malloc.
 */
#ifndef FACTS_HEAP_ALLOCATORS_H
#define FACTS_HEAP_ALLOCATORS_H

#include "source/source.h"

enum heap_does {
    HEAP_ALLOCATES,
    HEAP_ALLOCATES_ZEROED,
    HEAP_STORES, /* the block's address through its first argument */
    HEAP_REALLOCATES,
    HEAP_FREES,
    HEAP_MEASURES, /* says how much of a block may be used, which may be more than was asked for */
    HEAP_TIDIES,   /* none of these, but it walks over the allocator's memory */
};

/* What gave out a block must take it back. */
enum heap_family { HEAP_MALLOC, HEAP_NEW, HEAP_NEW_ARRAY, HEAP_POOL };

enum { HEAP_ARGUMENTS = 3, HEAP_ONCE = 0xff, HEAP_POOLS = 2 };

struct heap_function {
    gaddr entry;
    const char *name; /* for people */
    uint8_t does;     /* enum heap_does */
    uint8_t family;   /* enum heap_family */
    uint8_t size;     /* the argument with the size, or the pointer */
    uint8_t times;    /* the argument it is multiplied with, or HEAP_ONCE */
    uint16_t row;     /* of all that are known */
};

/* The pool of a function: 0, or 1 for the user's. */
static inline unsigned heap_pool(const struct heap_function *f)
{
    return f->family == HEAP_POOL;
}

struct heap_functions {
    struct heap_function *list; /* by entry */
    size_t count;
    struct heap_function pair[2]; /* the user's; no names: none */
    char *pool[2];                /* their names */
    size_t room;
};

/* `pool` is NULL or ALLOC,FREE. A name may have `:N` behind it: the argument, from 1 on, that is
 * the size, or the pointer. */
int allocators_init(struct heap_functions *f, struct source *source, const char *pool,
                    struct err *err);
/* The names of the user's pair alone; the functions are added one by one, by their rows. */
int allocators_names(struct heap_functions *f, const char *pool, struct err *err);
bool allocators_add(struct heap_functions *f, uint64_t row, gaddr entry); /* in order of entries */
void allocators_deinit(struct heap_functions *f);

/* NULL: none begins there. */
const struct heap_function *allocators_at(const struct heap_functions *f, gaddr pc);

#endif
