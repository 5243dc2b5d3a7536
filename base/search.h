/* search.h - where in a sorted array. SPDX-License-Identifier: MIT
 *
 *     size_t i = search_upto(m->row, m->rows, addr, pc);
 *     return i ? &m->row[i - 1] : NULL; // the row that pc is in
 *
 * They are macros, so that a member can be named; arguments are evaluated more than once. The array
 * may be NULL if it has no elements. This needs no libc: code inside a target may use it.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/* Sorted by a number: how many elements have a key up to this one, which is the index of the first
 * that is beyond. */
#define search_upto(array, count, member, key)                                                     \
    search_first((count), at_, (array)[at_].member <= (key))

/* How many have a smaller key, which is the index of the first that does not. */
#define search_below(array, count, member, key)                                                    \
    search_first((count), at_, (array)[at_].member < (key))

/* Sorted by whatever: the first of `count` numbers from 0 on for which `before`, an expression with
 * the name `at` for the number, is false; `count` if it is true for all. */
#define search_first(count, at, before)                                                            \
    ({                                                                                             \
        size_t low_ = 0, high_ = (size_t)(count);                                                  \
        while (low_ < high_) {                                                                     \
            const size_t at = low_ + (high_ - low_) / 2;                                           \
            if (before)                                                                            \
                low_ = at + 1;                                                                     \
            else                                                                                   \
                high_ = at;                                                                        \
        }                                                                                          \
        low_;                                                                                      \
    })

#endif
