/* position.c - a point of an execution, and its token. SPDX-License-Identifier: MIT */
#include "base/position.h"

#include <inttypes.h>
#include <stdio.h>

void position_format(const struct position *at, char text[POSITION_TEXT])
{
    int n = at->process ? snprintf(text, POSITION_TEXT, "P%" PRIu32 ".", at->process) : 0;
    snprintf(text + n, POSITION_TEXT - (size_t)n, "T%" PRIu32 ":%" PRIu64 ":%" PRIx64, at->thread,
             at->count, at->pc);
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

/* A mark, a number from 1 on, and what ends it. */
static const char *ordinal(const char *s, char mark, char end, uint32_t *v)
{
    uint64_t n;
    const char *p = *s == mark ? number(s + 1, 10, &n) : NULL;
    if (!p || *p != end || n == 0 || n > UINT32_MAX)
        return NULL;
    *v = (uint32_t)n;
    return p + 1;
}

int position_parse(const char *text, struct position *at, struct err *err)
{
    struct position found = {0};
    const char *p = text;
    if (*p == 'P')
        p = ordinal(p, 'P', '.', &found.process);
    p = p ? ordinal(p, 'T', ':', &found.thread) : NULL;
    p = p ? number(p, 10, &found.count) : NULL;
    p = p && *p == ':' ? number(p + 1, 16, &found.pc) : NULL;
    if (!p || *p)
        return err_set(err, "'%s' is not a position such as T1:2045:401136", text);
    if (found.process == 1)
        found.process = 0;
    *at = found;
    return 0;
}

int position_check(const struct position *at, struct err *err)
{
    char text[POSITION_TEXT];
    if (!at->process)
        return 0;
    position_format(at, text);
    return err_set(err, "%s: there is no process %" PRIu32 " in this recording", text, at->process);
}
