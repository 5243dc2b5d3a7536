/* window.c - a part of a recording, as options name it. SPDX-License-Identifier: MIT */
#include "cli/window.h"

#include <stdio.h>
#include <string.h>

/* Only a replay can order positions of different threads. */
static bool is_before(const struct position *a, const struct position *b)
{
    if (a->thread != b->thread || a->count == b->count)
        return a->thread == b->thread && a->pc < b->pc;
    return a->count < b->count;
}

int window_parse(const char *text, struct window *out, struct err *err)
{
    const char *dots = strstr(text, "..");
    char from[POSITION_TEXT];

    *out = (struct window){.has_from = dots && dots != text, .has_to = dots && dots[2]};
    if (!dots || (size_t)(dots - text) >= sizeof from || (!out->has_from && !out->has_to))
        return err_set(err, "%s: a window is FROM..TO, two positions like T1:2045:401136", text);
    snprintf(from, sizeof from, "%.*s", (int)(dots - text), text);
    if (out->has_from && position_parse(from, &out->from, err))
        return -1;
    if (out->has_to && position_parse(dots + 2, &out->to, err))
        return -1;
    if (out->has_from && out->has_to && is_before(&out->to, &out->from))
        return err_set(err, "%s: this window ends before it begins", text);
    return 0;
}
