/* search.h - where in a sorted array. SPDX-License-Identifier: MIT
 *
 * The array is sorted by a member of its elements, a uint64_t. It may be NULL if it has none.
 *
 *     size_t i = search_upto(m->row, m->rows, addr, pc);
 *     return i ? &m->row[i - 1] : NULL; // the row that pc is in
 *
 * They are macros, so that the member can be named; array and count are evaluated more than once.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* How many elements have a key up to this one, which is the index of the first that is beyond. */
#define search_upto(array, count, member, key)                                                     \
    search_keys((count) ? &(array)->member : NULL, (count), sizeof *(array), (key))

/* How many have a smaller key, which is the index of the first that does not. */
#define search_below(array, count, member, key)                                                    \
    ((key) ? search_upto((array), (count), member, (key)-1) : 0)

/* The first key is at `keys`, each further one `stride` bytes behind the one before. */
static inline size_t search_keys(const uint64_t *keys, size_t count, size_t stride, uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)((const char *)keys + middle * stride) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
