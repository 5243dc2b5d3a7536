/* wanted.h - the bytes of memory whose last definition is being looked for.
 * SPDX-License-Identifier: MIT */
#ifndef SLICER_WANTED_H
#define SLICER_WANTED_H

#include <stddef.h>

#include "engine/rt/types.h"

/* Eight bytes at a time, with a bit for each. */
struct wanted_slot {
    gaddr granule; /* address / 8, plus one; 0: free */
    uint8_t mask;
};

struct wanted {
    struct wanted_slot *slot;
    size_t room, used, live; /* live: slots with a mask */
};

/* What {0} begins. False: no memory. */
bool wanted_add(struct wanted *w, gaddr addr, uint64_t bytes);
/* Takes them off; were there any? */
bool wanted_take(struct wanted *w, gaddr addr, uint64_t bytes);
bool wanted_any(const struct wanted *w, gaddr addr, uint64_t bytes);
void wanted_deinit(struct wanted *w);

/* Bytes of [from, from + bytes) that are wanted are taken off; what is at the same distance from
 * `to` is wanted instead. Were there any? */
bool wanted_move(struct wanted *w, gaddr from, uint64_t bytes, gaddr to, bool *ok);

/* Those of the eight at `addr`, which is a multiple of 8. */
static inline struct wanted_slot *wanted_find(const struct wanted *w, gaddr granule)
{
    if (!w->room)
        return NULL;
    size_t i = (granule * 0x9e3779b97f4a7c15ull >> 20) & (w->room - 1);
    while (w->slot[i].granule && w->slot[i].granule != granule + 1)
        i = (i + 1) & (w->room - 1);
    return w->slot[i].granule ? &w->slot[i] : NULL;
}

#endif
