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

/* Bytes one after the other, two digits each. */
struct part {
    uint64_t begin;
    const char *digits;
    size_t bytes;
};

/* The next one of an answer; *i is which. */
static bool next_part(const struct value *answer, unsigned *i, struct part *out)
{
    const struct value *list = value_get(answer, "memory");
    if (*i >= value_count(list))
        return false;
    const struct value *part = value_at(list, (*i)++);
    out->begin = value_number(part, "begin", 0);
    out->digits = value_say(part, "contents");
    out->bytes = strspn(out->digits, "0123456789abcdefABCDEF") / 2;
    return true;
}

GArray *memory_rows(const struct value *answer, const GArray *old)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct memory_row));
    struct part p;
    for (unsigned i = 0; next_part(answer, &i, &p);)
        for (size_t at = 0; at < p.bytes; at += MEMORY_COLUMNS)
            add_row(rows, p.begin + at, p.digits + 2 * at, MIN(p.bytes - at, MEMORY_COLUMNS), old);
    return rows;
}

/* ---- as numbers ---- */

const struct memory_type memory_types[MEMORY_TYPES] = {
    {"int8", 1, MEMORY_SIGNED},  {"int16", 2, MEMORY_SIGNED},   {"int32", 4, MEMORY_SIGNED},
    {"int64", 8, MEMORY_SIGNED}, {"uint8", 1, MEMORY_UNSIGNED}, {"float", 4, MEMORY_FLOAT},
    {"double", 8, MEMORY_FLOAT}, {"pointer", 8, MEMORY_ADDRESS}};

static uint64_t read_little(const char *digits, unsigned bytes)
{
    uint64_t raw = 0;
    for (unsigned i = bytes; i-- > 0;)
        raw = raw << 8 | (unsigned)(g_ascii_xdigit_value(digits[2 * i]) * 16 +
                                    g_ascii_xdigit_value(digits[2 * i + 1]));
    return raw;
}

static void fill(struct memory_number *n, uint64_t raw, const struct memory_type *type)
{
    unsigned unused = 64 - 8 * type->bytes;
    float narrow;
    uint32_t low = (uint32_t)raw;
    switch (type->kind) {
    case MEMORY_SIGNED:
        n->value = (double)((int64_t)(raw << unused) >> unused);
        g_snprintf(n->text, sizeof n->text, "%" G_GINT64_FORMAT,
                   (int64_t)(raw << unused) >> unused);
        break;
    case MEMORY_UNSIGNED:
    case MEMORY_ADDRESS:
        n->value = (double)raw;
        g_snprintf(
            n->text, sizeof n->text,
            type->kind == MEMORY_ADDRESS ? "0x%" G_GINT64_MODIFIER "x" : "%" G_GUINT64_FORMAT, raw);
        break;
    case MEMORY_FLOAT:
        memcpy(&narrow, &low, sizeof narrow);
        memcpy(&n->value, &raw, sizeof n->value);
        n->value = type->bytes == 4 ? (double)narrow : n->value;
        g_ascii_formatd(n->text, sizeof n->text, type->bytes == 4 ? "%.9g" : "%.17g", n->value);
        break;
    }
}

GArray *memory_numbers(const struct value *answer, const struct memory_type *type)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(struct memory_number));
    struct part p;
    for (unsigned i = 0; next_part(answer, &i, &p);)
        for (size_t at = 0; at + type->bytes <= p.bytes; at += type->bytes) {
            struct memory_number n = {.address = p.begin + at};
            fill(&n, read_little(p.digits + 2 * at, type->bytes), type);
            g_array_append_val(all, n);
        }
    return all;
}
