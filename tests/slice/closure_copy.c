/* closure_copy.c - does what counts as a copy copy? SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/slice/closure.h"

static const uint8_t *bytes_at(const struct flat *s, bool memory, uint64_t at)
{
    return memory ? (const uint8_t *)at : &s->v[at];
}

uint8_t *closure_copy_take(const struct forward_at *n, const struct flat *before, struct copy *out)
{
    if (!copy_of(n, out))
        return NULL;
    uint8_t *kept = malloc(out->from_bytes);
    if (!kept)
        abort();
    memcpy(kept, bytes_at(before, out->from_memory, out->from), out->from_bytes);
    return kept;
}

bool closure_copy_holds(const struct copy *c, const uint8_t *kept, const struct flat *after)
{
    const uint8_t *to = bytes_at(after, c->to_memory, c->to);
    uint8_t sign = kept[c->from_bytes - 1] & 0x80 ? 0xff : 0, fill = sign;
    if (memcmp(to, kept, c->from_bytes) != 0)
        return false;
    if (c->to_bytes > c->from_bytes)
        fill = to[c->to_bytes - 1];
    for (uint64_t i = c->from_bytes; i < c->to_bytes; i++)
        if (to[i] != fill && !(to[i] == sign && fill == 0))
            return false;
    return fill == 0 || fill == sign;
}
