/* packed.c - calls of allocators, packed: what else is known of a call is left out or made small.
 *
 * SPDX-License-Identifier: MIT
 *
 * Moments are told from the one before, pointers from the call that gave them out. Registers that
 * are no argument of the function are left out. Blocks are made from the calls again.
 */
#include "facts/heap/packed.h"

#include <stdlib.h>
#include <string.h>

/* The argument that is a pointer to a block; -1: none. */
static int pointer_of(const struct heap_function *f)
{
    return f->does == HEAP_FREES ? f->size : f->does == HEAP_REALLOCATES ? 0 : -1;
}

static bool is_argument(const struct heap_function *f, unsigned i)
{
    if (f->does == HEAP_TIDIES)
        return false;
    return i == f->size || i == f->times || (int)i == pointer_of(f);
}

/* Ticks of the threads at their last calls. */
struct ticks {
    uint64_t *list;
    size_t count;
};

static uint64_t *ticks_of(struct ticks *t, uint32_t thread)
{
    while (t->count <= thread) {
        size_t room = t->count ? 2 * t->count : 64;
        uint64_t *more = realloc(t->list, room * sizeof *more);
        if (!more)
            return NULL;
        memset(more + t->count, 0, (room - t->count) * sizeof *more);
        t->list = more;
        t->count = room;
    }
    return &t->list[thread];
}

static void pack_pointer(const struct heap *h, size_t i, int argument, struct packed_call *to)
{
    const struct heap_call *c = &h->call[i];
    if (c->took == HEAP_NONE)
        return;
    const uint32_t maker = h->block[c->took].allocated;
    to->back = i - maker;
    to->arg[argument] -= h->call[maker].result;
}

struct packed_call *packed_new(const struct heap *h)
{
    struct packed_call *list = calloc(h->calls + 1, sizeof *list);
    struct ticks ticks = {0};
    bool good = list != NULL;
    for (size_t i = 0; good && i < h->calls; i++) {
        const struct heap_call *c = &h->call[i];
        const struct heap_function *f = &h->functions.list[c->function];
        struct packed_call *to = &list[i];
        uint64_t *before = ticks_of(&ticks, c->thread);
        good = before != NULL;
        if (!good)
            break;
        *to = (struct packed_call){.first = c->first,
                                   .insns = c->last - c->first,
                                   .over = c->over - c->last,
                                   .ticks = c->count - *before,
                                   .thread = c->thread,
                                   .function = c->function,
                                   .stack = c->stack,
                                   .known = c->entered | (unsigned)c->returned << 1,
                                   .result = c->result};
        *before = c->count;
        for (unsigned k = 0; k < HEAP_ARGUMENTS; k++)
            to->arg[k] = is_argument(f, k) ? c->arg[k] : 0;
        if (pointer_of(f) >= 0)
            pack_pointer(h, i, pointer_of(f), to);
    }
    free(ticks.list);
    if (good)
        return list;
    free(list);
    return NULL;
}

/* False: it leads out of the lists. */
static bool unpack_call(struct heap *h, size_t i, const struct packed_call *from)
{
    struct heap_call *c = &h->call[i];
    if (from->function >= h->functions.count || from->stack >= h->stacks || from->back > i)
        return false;
    const int pointer = pointer_of(&h->functions.list[from->function]);
    *c = (struct heap_call){.first = from->first,
                            .last = from->first + from->insns,
                            .over = from->first + from->insns + from->over,
                            .thread = from->thread,
                            .function = from->function,
                            .stack = from->stack,
                            .block = HEAP_NONE,
                            .took = HEAP_NONE,
                            .entered = from->known & 1,
                            .returned = from->known >> 1 & 1,
                            .result = from->result};
    memcpy(c->arg, from->arg, sizeof c->arg);
    if (pointer >= 0 && from->back)
        c->arg[pointer] += h->call[i - from->back].result;
    return true;
}

bool packed_read(struct heap *h, const struct packed_call *list, size_t count)
{
    struct ticks ticks = {0};
    bool good = (h->call = malloc((count + 1) * sizeof *h->call)) != NULL;
    for (size_t i = 0; good && i < count; i++) {
        uint64_t *before = list[i].thread <= UINT16_MAX ? ticks_of(&ticks, list[i].thread) : NULL;
        good = before && unpack_call(h, i, &list[i]);
        if (good)
            *before = h->call[i].count = *before + list[i].ticks;
    }
    free(ticks.list);
    h->calls = h->call_room = good ? count : 0;
    return good;
}
