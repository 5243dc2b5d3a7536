/* value.c - values as text. SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/place.h"
#include "source/source_int.h"

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

/* The name behind typedefs and qualifiers; "" if there is none. */
static const char *base_name(const struct source_type *t)
{
    Dwarf_Die die;
    const char *name = NULL;

    memcpy(&die, t->die, sizeof die);
    if (t->die[0] && dwarf_peel_type(&die, &die) == 0)
        name = dwarf_diename(&die);
    return name ? name : "";
}

/* IEEE 754's binary16. */
static long double half(uint16_t v)
{
    unsigned exponent = v >> 10 & 31, fraction = v & 1023;
    long double magnitude = exponent == 31 ? (fraction ? __builtin_nanl("") : __builtin_infl())
                            : exponent     ? (long double)(fraction | 1024) * (1u << (exponent - 1))
                                           : (long double)fraction;

    return (v >> 15 ? -1 : 1) * magnitude / (1 << 24);
}

/* IEEE 754's binary128: the exponent is that of the x87's 80 bits, of the fraction less is kept. */
static long double quad(const uint8_t *value)
{
    uint64_t low, high;
    uint8_t x87[10];
    long double l = 0;

    memcpy(&low, value, sizeof low);
    memcpy(&high, value + 8, sizeof high);
    uint16_t head = (uint16_t)(high >> 48);
    uint64_t fraction = high << 15 | low >> 49;
    if (head & 0x7fff)
        fraction |= 1ull << 63;
    else
        fraction &= ~(1ull << 63);
    memcpy(x87, &fraction, sizeof fraction);
    memcpy(x87 + 8, &head, sizeof head);
    memcpy(&l, x87, sizeof x87);
    return l;
}

bool source_value_float(const struct source_type *t, const void *value, size_t bytes,
                        long double *out)
{
    uint16_t h;
    uint32_t word;
    float f;
    double d;

    *out = 0;
    if (bytes == sizeof h) {
        memcpy(&h, value, sizeof h);
        word = (uint32_t)h << 16;
        memcpy(&f, &word, sizeof f);
        *out = strstr(base_name(t), "bf") ? (long double)f : half(h);
    } else if (bytes == sizeof f) {
        memcpy(&f, value, sizeof f);
        *out = f;
    } else if (bytes == sizeof d) {
        memcpy(&d, value, sizeof d);
        *out = d;
    } else if (bytes == sizeof *out && strstr(base_name(t), "128")) {
        *out = quad(value);
    } else if (bytes == sizeof *out || bytes == 10) {
        memcpy(out, value, 10);
    } else {
        return false;
    }
    return true;
}

static void write_float(const struct source_type *t, const void *value, size_t bytes, char *buf,
                        size_t room)
{
    long double l;
    int digits = bytes == 2 ? 5 : bytes == sizeof(float) ? 9 : bytes == sizeof(double) ? 17 : 18;

    if (source_value_float(t, value, bytes, &l))
        snprintf(buf, room, "%.*Lg", digits, l);
    else
        write_bytes(value, bytes, buf, room);
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
        write_float(t, value, bytes, buf, room);
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
