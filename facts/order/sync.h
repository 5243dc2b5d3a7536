/* sync.h - memory by which threads synchronise.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace has addresses but no values, so what a call of pthread_mutex_lock() was given is not
 * known; what it does to memory is. A synchronisation variable is therefore memory: what a
 * LOCK-prefixed instruction or xchg has ever touched, words of futexes, the word that the kernel
 * clears when a thread ends, and what debug information calls atomic. Its loads acquire, its stores
 * release. Functions are known by name where that says more: taking a lock releases nothing, and
 * giving it back acquires nothing.
 */
#ifndef FACTS_ORDER_SYNC_H
#define FACTS_ORDER_SYNC_H

#include "base/hash.h"
#include "study/study.h"

/* What an access does to a variable. */
enum sync_role {
    SYNC_PLAIN,   /* a load acquires, a store releases */
    SYNC_BOTH,    /* the same, and it makes a variable of what it touches */
    SYNC_ACQUIRE, /* that alone, though it writes */
    SYNC_RELEASE, /* that alone, though it reads */
};

struct sync_variable {
    gaddr start, end;
};

struct sync_thread {
    gaddr word;     /* that is cleared when it ends; 0: not known */
    uint64_t last;  /* its last instruction; UINT64_MAX: none */
    uint32_t child; /* of use to sync.c: what it just made, plus one */
    bool begun;     /* its beginning is in the trace */
};

struct sync {
    struct sync_variable *variable; /* by address; none overlaps another */
    size_t variables;
    uint8_t **role; /* by block: enum sync_role of its accesses; NULL: all are plain */
    uint32_t blocks;
    struct sync_thread *thread;
    uint32_t first_chunk; /* in chunks before it there is only one thread */
    uint64_t *filter;     /* a bit for each word of 8 bytes, hashed */
    unsigned filter_shift;
};

int sync_init(struct sync *s, struct study *study, struct err *err);
void sync_deinit(struct sync *s);

/* The first variable that has the byte at addr, or one behind it; `variables`: none. */
size_t sync_find(const struct sync *s, gaddr addr);

/* False: no variable has this byte or its neighbours in 8. */
static inline bool sync_may(const struct sync *s, gaddr addr)
{
    uint64_t h = hash_fold(0, addr >> 3) >> s->filter_shift;
    return s->filter[h >> 6] >> (h & 63) & 1;
}

#endif
