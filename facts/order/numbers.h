/* numbers.h - numbers for pairs of words, in the order in which they first came.
 *
 * SPDX-License-Identifier: MIT
 *
 * A caller keeps what it knows of a pair in an array of its own, by that number.
 */
#ifndef FACTS_ORDER_NUMBERS_H
#define FACTS_ORDER_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbers {
    uint64_t (*pair)[2]; /* by number */
    size_t count, room;
    uint32_t *slot; /* number plus one, hashed; 0: free */
    unsigned bits;
};

enum { NUMBERS_NONE = UINT32_MAX };

/* {0} is empty. The pair's number, a new one if need be; NUMBERS_NONE: no memory. */
uint32_t numbers_add(struct numbers *n, uint64_t first, uint64_t second);
/* NUMBERS_NONE: it has none. */
uint32_t numbers_find(const struct numbers *n, uint64_t first, uint64_t second);
void numbers_deinit(struct numbers *n);

#endif
