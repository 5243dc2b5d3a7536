/* wanted.c - the bytes of memory whose last definition is being looked for.
 * SPDX-License-Identifier: MIT */
#include "slicer/wanted.h"

#include <stdlib.h>

void wanted_deinit(struct wanted *w)
{
    free(w->slot);
    *w = (struct wanted){0};
}

static bool rehash(struct wanted *w)
{
    struct wanted n = {.room = 1024};
    while (n.room < 4 * w->live)
        n.room *= 2;
    n.slot = calloc(n.room, sizeof *n.slot);
    if (!n.slot)
        return false;
    for (size_t i = 0; i < w->room; i++) {
        if (!w->slot[i].mask)
            continue;
        size_t k = ((w->slot[i].granule - 1) * 0x9e3779b97f4a7c15ull >> 20) & (n.room - 1);
        while (n.slot[k].granule)
            k = (k + 1) & (n.room - 1);
        n.slot[k] = w->slot[i];
    }
    n.used = n.live = w->live;
    free(w->slot);
    *w = n;
    return true;
}

/* The slot for a granule, made if it is not there. */
static struct wanted_slot *make(struct wanted *w, gaddr granule)
{
    struct wanted_slot *s = wanted_find(w, granule);
    if (s)
        return s;
    if (2 * w->used >= w->room && !rehash(w))
        return NULL;
    size_t i = (granule * 0x9e3779b97f4a7c15ull >> 20) & (w->room - 1);
    while (w->slot[i].granule)
        i = (i + 1) & (w->room - 1);
    w->slot[i].granule = granule + 1;
    w->used++;
    return &w->slot[i];
}

/* Bits for the part of [addr, addr + bytes) in its first granule; moves on behind it. */
static uint8_t part(gaddr *addr, uint64_t *bytes)
{
    unsigned first = *addr & 7, n = 8 - first;
    if (n > *bytes)
        n = (unsigned)*bytes;
    *addr += n;
    *bytes -= n;
    return (uint8_t)(((1u << n) - 1) << first);
}

bool wanted_add(struct wanted *w, gaddr addr, uint64_t bytes)
{
    while (bytes) {
        struct wanted_slot *s = make(w, addr / 8);
        if (!s)
            return false;
        w->live += !s->mask;
        s->mask |= part(&addr, &bytes);
    }
    return true;
}

/* The range has more granules than there are slots: the slots are looked at. */
static bool is_large(const struct wanted *w, uint64_t bytes)
{
    return bytes / 8 > w->room;
}

static uint8_t overlap(const struct wanted_slot *s, gaddr addr, uint64_t bytes)
{
    gaddr at = (s->granule - 1) * 8;
    uint8_t mask = 0;
    for (unsigned i = 0; i < 8; i++)
        if (at + i - addr < bytes)
            mask |= (uint8_t)(1u << i);
    return mask & s->mask;
}

bool wanted_any(const struct wanted *w, gaddr addr, uint64_t bytes)
{
    if (!w->live)
        return false;
    if (is_large(w, bytes)) {
        for (size_t i = 0; i < w->room; i++)
            if (w->slot[i].mask && overlap(&w->slot[i], addr, bytes))
                return true;
        return false;
    }
    while (bytes) {
        const struct wanted_slot *s = wanted_find(w, addr / 8);
        uint8_t mask = part(&addr, &bytes);
        if (s && (s->mask & mask))
            return true;
    }
    return false;
}

static bool drop(struct wanted *w, struct wanted_slot *s, uint8_t mask)
{
    mask &= s->mask;
    s->mask &= (uint8_t)~mask;
    w->live -= mask && !s->mask;
    return mask;
}

bool wanted_take(struct wanted *w, gaddr addr, uint64_t bytes)
{
    bool any = false;
    if (!w->live)
        return false;
    if (is_large(w, bytes)) {
        for (size_t i = 0; i < w->room; i++)
            if (w->slot[i].mask)
                any |= drop(w, &w->slot[i], overlap(&w->slot[i], addr, bytes));
        return any;
    }
    while (bytes) {
        struct wanted_slot *s = wanted_find(w, addr / 8);
        uint8_t mask = part(&addr, &bytes);
        if (s)
            any |= drop(w, s, mask);
    }
    return any;
}

bool wanted_move(struct wanted *w, gaddr from, uint64_t bytes, gaddr to, bool *ok)
{
    gaddr *list = NULL;
    size_t n = 0, room = 0;
    if (!w->live)
        return false;
    for (size_t i = 0; i < w->room; i++) {
        uint8_t mask = w->slot[i].mask ? overlap(&w->slot[i], from, bytes) : 0;
        for (unsigned k = 0; k < 8 && mask; k++) {
            if (!(mask >> k & 1))
                continue;
            if (n == room) {
                room = room ? room * 2 : 64;
                gaddr *more = realloc(list, sizeof *list * room);
                if (!more) {
                    *ok = false;
                    free(list);
                    return true;
                }
                list = more;
            }
            list[n++] = (w->slot[i].granule - 1) * 8 + k;
        }
        if (mask)
            drop(w, &w->slot[i], mask);
    }
    for (size_t i = 0; i < n; i++)
        *ok &= wanted_add(w, list[i] - from + to, 1);
    free(list);
    return n;
}
