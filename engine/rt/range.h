/* range.h - the address ranges the runtime owns, and its heap.
 *
 * SPDX-License-Identifier: MIT
 *
 * Everything the runtime allocates is noted here: the ranges are hidden from /proc/self/maps and
 * the target may not map over them. The heap never gives memory back: it holds what lives as long
 * as the process. Needs the baton (or a single thread).
 */
#ifndef ENGINE_RT_RANGE_H
#define ENGINE_RT_RANGE_H

#include "engine/rt/types.h"

struct range {
    gaddr start, end;
};

void range_init(gaddr base, uint64_t bytes); /* the range that the runtime was loaded into */

/* Sets address space aside below the runtime, for all that is to come: the target will never have
 * anything there. Best effort; returns where it begins. */
gaddr range_reserve(uint64_t bytes);

/* Called with, and asked for, ranges far from the runtime (range_alloc_near). NULL: nobody is.
 * `where` gives the place, or says that there is none. */
extern void (*range_far)(gaddr start, uint64_t bytes);
extern bool (*range_where)(gaddr near, uint64_t bytes, gaddr *start);

/* Zeroed memory within 2 GB of the runtime. Ends the process with a line when there is none. */
void *range_alloc(uint64_t bytes);
void range_free(void *p, uint64_t bytes);

/* The same for a table that is used all over: a large one in huge pages, if there are any. */
void *range_table(uint64_t bytes);

/* Writable and executable memory below `near` and close to it (0: close to the runtime); or NULL.
 */
void *range_alloc_near(gaddr near, uint64_t bytes, bool code);

/* Memory that is filled from its start to `end` and has pages up to *ready: gives it pages for the
 * time to come, when `pos` is near *ready. Many pages at once cost half as much as a fault for
 * each. */
void range_fill(uint8_t **ready, const uint8_t *pos, uint8_t *end);

/* A small zeroed object, 16-aligned. */
void *range_heap(size_t bytes);

size_t range_list(const struct range **list);
bool range_overlaps(gaddr start, gaddr end);

#endif
