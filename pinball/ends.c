/* ends.c - how a recording ended. SPDX-License-Identifier: MIT */
#include "pinball/ends.h"

#include <stddef.h>
#include <string.h>

static const struct ends_row rows[] = {
#define END(reason, number, name, status, outside, text, bare, gdb)                                \
    [number] = {name, ENDS_##status, outside, text, bare},
#include "pinball/ends.def"
#undef END
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const struct ends_row *ends_row(uint32_t reason)
{
    return reason < ROWS && rows[reason].name ? &rows[reason] : NULL;
}

const char *ends_name(uint32_t reason)
{
    const struct ends_row *row = ends_row(reason);

    return row ? row->name : "unknown";
}

uint32_t ends_reason(const char *name)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (rows[i].name && strcmp(rows[i].name, name) == 0)
            return i;
    return 0;
}
