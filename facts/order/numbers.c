/* numbers.c - numbers for pairs of words. SPDX-License-Identifier: MIT */
#include "facts/order/numbers.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

enum { FIRST_BITS = 8 };

/* Where the pair is, or the free slot where it would be. */
static uint32_t *place_of(const struct numbers *n, uint64_t first, uint64_t second)
{
    uint32_t mask = (uint32_t)((1ull << n->bits) - 1);
    uint32_t i = hash_pair(first, second) & mask;
    for (; n->slot[i]; i = (i + 1) & mask) {
        const uint64_t *pair = n->pair[n->slot[i] - 1];
        if (pair[0] == first && pair[1] == second)
            break;
    }
    return &n->slot[i];
}

static int grow(struct numbers *n)
{
    struct numbers larger = *n;
    larger.bits = n->bits ? n->bits + 1 : FIRST_BITS;
    larger.slot = larger.bits < 32 ? calloc((size_t)1 << larger.bits, sizeof *larger.slot) : NULL;
    if (!larger.slot)
        return -1;
    for (size_t i = 0; i < n->count; i++)
        *place_of(&larger, n->pair[i][0], n->pair[i][1]) = (uint32_t)i + 1;
    free(n->slot);
    *n = larger;
    return 0;
}

uint32_t numbers_add(struct numbers *n, uint64_t first, uint64_t second)
{
    if ((!n->bits || 2 * n->count >= (size_t)1 << n->bits) && grow(n))
        return NUMBERS_NONE;
    uint32_t *slot = place_of(n, first, second);
    if (*slot)
        return *slot - 1;
    if (array_reserve(&n->pair, &n->room, n->count + 1))
        return NUMBERS_NONE;
    n->pair[n->count][0] = first;
    n->pair[n->count][1] = second;
    *slot = (uint32_t)++n->count;
    return *slot - 1;
}

uint32_t numbers_find(const struct numbers *n, uint64_t first, uint64_t second)
{
    uint32_t slot = n->bits ? *place_of(n, first, second) : 0;
    return slot ? slot - 1 : (uint32_t)NUMBERS_NONE;
}

void numbers_deinit(struct numbers *n)
{
    free(n->pair);
    free(n->slot);
    *n = (struct numbers){0};
}
