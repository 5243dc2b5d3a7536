/* failing.c - memory runs out when a test says so. SPDX-License-Identifier: MIT */
#include "tests/unit/failing.h"

#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static struct {
    bool on, hit;
    uint64_t left;
} failing;

void failing_begin(uint64_t n)
{
    failing.on = true;
    failing.hit = false;
    failing.left = n;
}

bool failing_end(void)
{
    failing.on = false;
    return failing.hit;
}

static bool fails(void)
{
    if (!failing.on || failing.left--)
        return false;
    failing.on = false;
    return failing.hit = true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}
