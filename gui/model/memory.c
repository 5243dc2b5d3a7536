/* memory.c - bytes as people read them. SPDX-License-Identifier: MIT */
#include "gui/model/memory.h"

#include <string.h>

static const struct memory_row *find(const GArray *rows, uint64_t address)
{
    for (unsigned i = 0; rows && i < rows->len; i++)
        if (g_array_index(rows, struct memory_row, i).address == address)
            return &g_array_index(rows, struct memory_row, i);
    return NULL;
}

static void add_row(GArray *rows, uint64_t address, const char *digits, size_t bytes,
                    const GArray *old)
{
    struct memory_row row = {.address = address};
    char *out = row.hex;
    for (size_t i = 0; i < bytes; i++) {
        int byte =
            g_ascii_xdigit_value(digits[2 * i]) * 16 + g_ascii_xdigit_value(digits[2 * i + 1]);
        out += g_snprintf(out, 5, "%s%02x",
                          i == 0                    ? ""
                          : i == MEMORY_COLUMNS / 2 ? "  "
                                                    : " ",
                          byte & 0xff);
        row.text[i] = byte >= 0x20 && byte < 0x7f ? (char)byte : '.';
    }
    const struct memory_row *before = find(old, address);
    row.changed = before && strcmp(before->hex, row.hex) != 0;
    g_array_append_val(rows, row);
}

GArray *memory_rows(const struct value *answer, const GArray *old)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct memory_row));
    const struct value *list = value_get(answer, "memory");
    for (unsigned i = 0; i < value_count(list); i++) {
        const struct value *part = value_at(list, i);
        const char *digits = value_say(part, "contents");
        size_t bytes = strspn(digits, "0123456789abcdefABCDEF") / 2;
        uint64_t begin = value_number(part, "begin", 0);
        for (size_t at = 0; at < bytes; at += MEMORY_COLUMNS)
            add_row(rows, begin + at, digits + 2 * at, MIN(bytes - at, MEMORY_COLUMNS), old);
    }
    return rows;
}
