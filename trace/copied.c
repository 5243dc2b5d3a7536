/* copied.c - where the bytes that a repeated copy writes come from. SPDX-License-Identifier: MIT
 *
 * Upwards, with distance d from source to destination: byte k is read where byte k - d was written,
 * if there is such a byte and it is of an earlier element, which it is not if both are of one:
 * k % element >= d. Downwards the same is true, counted from the other end.
 */
#include "trace/copied.h"

uint64_t copied_origin(const struct copied *c, uint64_t k)
{
    if (!copied_overlaps(c))
        return k;
    uint64_t d = copied_distance(c), last = c->bytes - 1;
    k = c->down ? last - k : k;
    if (d >= c->element)
        k %= d;
    while (k >= d && k % c->element < d) /* seven times at most: it moves up in its element */
        k -= d;
    return c->down ? last - k : k;
}

bool copied_next(const struct copied *c, uint64_t *at, uint64_t *count)
{
    uint64_t end = c->bytes;
    if (copied_overlaps(c)) {
        while (*at < c->bytes && copied_origin(c, *at) != *at)
            ++*at;
        for (end = *at; end < c->bytes && copied_origin(c, end) == end;)
            end++;
    }
    *count = end - *at;
    return *at < end;
}
