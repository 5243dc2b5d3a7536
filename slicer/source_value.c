/* source_value.c - values as text. SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "slicer/source_int.h"
#include "slicer/source_place.h"

enum { BYTES_SHOWN = 16 };

static uint64_t number_of(const void *value, size_t bytes, bool is_signed)
{
    uint64_t v = 0;

    if (bytes > sizeof v)
        bytes = sizeof v;
    memcpy(&v, value, bytes);
    if (is_signed && bytes && bytes < sizeof v && v >> (8 * bytes - 1))
        v |= UINT64_MAX << (8 * bytes);
    return v;
}

static void write_bytes(const uint8_t *value, size_t bytes, char *buf, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < bytes && i < BYTES_SHOWN && used < room; i++)
        used += (size_t)snprintf(buf + used, room - used, "%s%02x", i ? " " : "{", value[i]);
    if (used < room)
        snprintf(buf + used, room - used, bytes > BYTES_SHOWN ? " ...}" : "}");
}

static void write_character(uint64_t v, char *buf, size_t room)
{
    unsigned char c = (unsigned char)v;

    if (c >= ' ' && c < 0x7f)
        snprintf(buf, room, "%" PRId64 " '%s%c'", (int64_t)v, c == '\'' || c == '\\' ? "\\" : "",
                 c);
    else
        snprintf(buf, room, "%" PRId64 " '\\%03o'", (int64_t)v, c);
}

static void write_float(const void *value, size_t bytes, char *buf, size_t room)
{
    float f;
    double d;
    long double l = 0;

    if (bytes == sizeof f) {
        memcpy(&f, value, sizeof f);
        snprintf(buf, room, "%.9g", (double)f);
    } else if (bytes == sizeof d) {
        memcpy(&d, value, sizeof d);
        snprintf(buf, room, "%.17g", d);
    } else if (bytes == sizeof l || bytes == 10) {
        memcpy(&l, value, 10);
        snprintf(buf, room, "%.18Lg", l);
    } else {
        write_bytes(value, bytes, buf, room);
    }
}

/* The enumerator with the value, or nothing. */
static const char *enumerator(const struct source_type *t, uint64_t v)
{
    Dwarf_Die die, child;
    Dwarf_Attribute attribute;
    Dwarf_Sword number;

    memcpy(&die, t->die, sizeof die);
    if (!t->die[0] || dwarf_peel_type(&die, &die) || dwarf_child(&die, &child))
        return NULL;
    do
        if (dwarf_tag(&child) == DW_TAG_enumerator &&
            dwarf_attr(&child, DW_AT_const_value, &attribute) &&
            !dwarf_formsdata(&attribute, &number) && (uint64_t)number == v)
            return dwarf_diename(&child);
    while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static void write_enum(const struct source_type *t, uint64_t v, char *buf, size_t room)
{
    const char *name = enumerator(t, v);

    if (name)
        snprintf(buf, room, "%s", name);
    else
        snprintf(buf, room, "%" PRId64, (int64_t)v);
}

void source_value_write(const struct source_type *t, const void *value, size_t bytes, char *buf,
                        size_t room)
{
    enum source_class class = source_types_class(t);
    uint64_t v = number_of(value, bytes, source_types_is_signed(t));
    bool whole = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;

    if (class == TYPE_FLOAT)
        write_float(value, bytes, buf, room);
    else if (!whole)
        write_bytes(value, bytes, buf, room);
    else if (class == TYPE_SIGNED)
        snprintf(buf, room, "%" PRId64, (int64_t)v);
    else if (class == TYPE_UNSIGNED)
        snprintf(buf, room, "%" PRIu64, v);
    else if (class == TYPE_BOOLEAN && v < 2)
        snprintf(buf, room, "%s", v ? "true" : "false");
    else if (class == TYPE_CHARACTER || class == TYPE_UCHARACTER)
        write_character(v, buf, room);
    else if (class == TYPE_ENUM)
        write_enum(t, v, buf, room);
    else
        snprintf(buf, room, "0x%" PRIx64, v);
}
