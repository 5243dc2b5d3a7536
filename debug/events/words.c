/* words.c - text that grows, and bytes in quotes. SPDX-License-Identifier: MIT */
#include "debug/events/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void put(struct words *t, const char *more, size_t n)
{
    if (array_reserve(&t->data, &t->room, t->bytes + n + 1))
        return;
    memcpy(t->data + t->bytes, more, n);
    t->bytes += n;
    t->data[t->bytes] = 0;
}

void words_add(struct words *t, const char *more)
{
    put(t, more, strlen(more));
}

void words_addf(struct words *t, const char *fmt, ...)
{
    char some[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(some, sizeof some, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof some) {
        put(t, some, (size_t)n);
        return;
    }
    if (n < 0 || array_reserve(&t->data, &t->room, t->bytes + (size_t)n + 1))
        return;
    va_start(args, fmt);
    vsnprintf(t->data + t->bytes, (size_t)n + 1, fmt, args);
    va_end(args);
    t->bytes += (size_t)n;
}

void words_clear(struct words *t)
{
    t->bytes = 0;
    put(t, "", 0);
}

void words_deinit(struct words *t)
{
    free(t->data);
    *t = (struct words){0};
}

/* A digit behind an escape would belong to it if that were short. */
static void put_byte(struct words *t, uint8_t c, bool digit_follows)
{
    static const char named[256] = {['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v', ['\f'] = 'f',
                                    ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    char plain[2] = {(char)c, 0};
    if (named[c])
        words_addf(t, "\\%c", named[c]);
    else if (c >= ' ' && c < 0x7f)
        put(t, plain, 1);
    else
        words_addf(t, digit_follows ? "\\%03o" : "\\%o", c);
}

void words_quote(struct words *t, const uint8_t *bytes, size_t n, enum words_quotes how)
{
    words_add(t, "\"");
    for (size_t i = 0; i < n; i++)
        if (how == WORDS_HEX)
            words_addf(t, "\\x%02x", bytes[i]);
        else
            put_byte(t, bytes[i], i + 1 < n && bytes[i + 1] >= '0' && bytes[i + 1] <= '9');
    words_add(t, "\"");
}

void words_address(struct words *t, uint64_t addr)
{
    if (addr)
        words_addf(t, "%#llx", (unsigned long long)addr);
    else
        words_add(t, "NULL");
}
