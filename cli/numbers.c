/* numbers.c - numbers, times and sizes in options. SPDX-License-Identifier: MIT */
#include "cli/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "pinball/text.h"

enum { DIGITS = 24, SECONDS_MOST = 1u << 30 };

/* The number that `length` bytes are. */
static int part(const char *text, size_t length, uint64_t *out)
{
    char digits[DIGITS];

    if (length >= sizeof digits)
        return -1;
    memcpy(digits, text, length);
    digits[length] = 0;
    return text_number(digits, out);
}

int numbers_option(const char *verb, const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *out)
{
    if (text_number(text, out) || *out < least || *out > most)
        return say_error(CLI_USAGE, "%s: --%s %s: not a number from %" PRIu64 " on", verb, option,
                         text, least);
    return -1;
}

int numbers_threads(const char *verb, const char *text, uint32_t *list, size_t *count, size_t most)
{
    const char *end;

    for (const char *p = text; p; p = *end ? end + 1 : NULL) {
        uint64_t n;
        end = p + strcspn(p, ",");
        if (part(p, (size_t)(end - p), &n) || !n || n > UINT32_MAX)
            return say_error(CLI_USAGE, "%s: --only-thread %s: say 2, or 2,3", verb, text);
        if (*count == most)
            return say_error(CLI_USAGE, "%s: --only-thread: no more than %zu", verb, most);
        list[(*count)++] = (uint32_t)n;
    }
    return -1;
}

/* Digits and perhaps one of `units`: it is the number times that one's `factor`. */
static int scaled(const char *text, const char *units, const uint64_t *factor, uint64_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    uint64_t n;

    if ((text[digits] && (!unit || text[digits + 1])) || part(text, digits, &n) || !n)
        return -1;
    return __builtin_mul_overflow(n, unit ? factor[unit - units] : 1, out) ? -1 : 0;
}

int numbers_time(const char *text, uint64_t *ns)
{
    static const uint64_t seconds[] = {1, 60, 3600};
    uint64_t n;

    if (scaled(text, "smh", seconds, &n) || n > SECONDS_MOST)
        return -1;
    *ns = n * UINT64_C(1000000000);
    return 0;
}

int numbers_size(const char *text, uint64_t *bytes)
{
    static const uint64_t factor[] = {1 << 10, 1 << 10, 1 << 20, 1 << 20};

    return scaled(text, "KkMm", factor, bytes);
}
