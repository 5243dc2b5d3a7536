/* position.c - a point of an execution, and its token. SPDX-License-Identifier: MIT */
#include "base/position.h"

#include <inttypes.h>
#include <stdio.h>

void position_format(const struct position *at, char text[POSITION_TEXT])
{
    snprintf(text, POSITION_TEXT, "T%" PRIu32 ":%" PRIu64 ":%" PRIx64, at->thread, at->count,
             at->pc);
}

/* Digits of the base, at least one; NULL if there is none or the number does not fit. */
static const char *number(const char *s, unsigned base, uint64_t *v)
{
    const char *start = s;
    for (*v = 0;; s++) {
        unsigned d = *s >= '0' && *s <= '9'                 ? (unsigned)(*s - '0')
                     : base == 16 && *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a' + 10)
                                                            : base;
        if (d >= base)
            break;
        if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, d, v))
            return NULL;
    }
    return s == start ? NULL : s;
}

int position_parse(const char *text, struct position *at, struct err *err)
{
    uint64_t thread;
    const char *p = *text == 'T' ? number(text + 1, 10, &thread) : NULL;
    if (p && *p == ':')
        p = number(p + 1, 10, &at->count);
    else
        p = NULL;
    if (p && *p == ':')
        p = number(p + 1, 16, &at->pc);
    else
        p = NULL;
    if (!p || *p || thread == 0 || thread > UINT32_MAX)
        return err_set(err, "'%s' is not a position such as T1:2045:401136", text);
    at->thread = (uint32_t)thread;
    return 0;
}
