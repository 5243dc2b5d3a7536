/* copied.h - where the bytes that a repeated copy (rep movs) writes come from.
 *
 * SPDX-License-Identifier: MIT
 *
 * Elements are copied one after the other, each is read whole before it is written. Where the
 * destination lies in the way of the copy, elements are read that the same instruction has written
 * before: a pattern is repeated. Else byte k of the destination is byte k of the source.
 */
#ifndef TRACE_COPIED_H
#define TRACE_COPIED_H

#include "engine/rt/types.h"

struct copied {
    gaddr to, from;   /* the lowest addresses */
    uint64_t bytes;   /* of all elements */
    uint64_t element; /* bytes of one; as many as `bytes`: all is read before it is written */
    bool down;        /* from the last to the first */
};

/* How far behind what is read it writes, in the direction of the copy. */
static inline uint64_t copied_distance(const struct copied *c)
{
    return c->down ? c->from - c->to : c->to - c->from;
}

/* May it read what it has written? */
static inline bool copied_overlaps(const struct copied *c)
{
    return copied_distance(c) - 1 < c->bytes - 1 && c->bytes;
}

/* The byte of the source that byte k of the destination is, as it was before the instruction. */
uint64_t copied_origin(const struct copied *c, uint64_t k);

/* The next bytes of the source from *at on that are read as they were before: *count of them from
 * *at on. The others it has written itself. False: there are none. */
bool copied_next(const struct copied *c, uint64_t *at, uint64_t *count);

#endif
