/* random_text.h - text that is made up at random, for trace_text.h.
 *
 * SPDX-License-Identifier: MIT
 *
 * The same seed makes the same text.
 */
#ifndef TESTS_UNIT_RANDOM_TEXT_H
#define TESTS_UNIT_RANDOM_TEXT_H

#include <stdio.h>

#include "tests/unit/unit.h"

enum { RANDOM_TEXT = 1 << 18 };

struct random_text {
    uint64_t seed;
    size_t used;
    char text[RANDOM_TEXT];
};

static inline unsigned random_text_below(struct random_text *r, unsigned n)
{
    r->seed = r->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(r->seed >> 33) % n;
}

static inline void __attribute__((format(printf, 2, 3)))
random_text_put(struct random_text *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    r->used += (size_t)vsnprintf(r->text + r->used, sizeof r->text - r->used, fmt, args);
    va_end(args);
    assert_true(r->used < sizeof r->text);
}

#endif
