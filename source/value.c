/* value.c - values as text. SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

size_t source_value_escape(unsigned char c, char quote, char out[VALUE_ESCAPED])
{
    static const char named[] = "a\ab\bf\fn\nr\rt\tv\v";

    for (size_t i = 0; i < sizeof named - 1; i += 2)
        if ((unsigned char)named[i + 1] == c)
            return (size_t)snprintf(out, VALUE_ESCAPED, "\\%c", named[i]);
    if (c >= ' ' && c < 0x7f)
        return (size_t)snprintf(out, VALUE_ESCAPED, "%s%c",
                                c == (unsigned char)quote || c == '\\' ? "\\" : "", c);
    return (size_t)snprintf(out, VALUE_ESCAPED, "\\%03o", c);
}

static void write_character(uint64_t v, char *buf, size_t room)
{
    char text[VALUE_ESCAPED];

    source_value_escape((unsigned char)v, '\'', text);
    snprintf(buf, room, "%" PRId64 " '%s'", (int64_t)v, text);
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

/* The bits of the fraction, which say what kind of no number it is. */
static uint64_t fraction_of(const void *value, size_t bytes)
{
    uint64_t v = 0;

    memcpy(&v, value, bytes < sizeof v ? bytes : sizeof v);
    return bytes == 2                ? v & 0x3ff
           : bytes == sizeof(float)  ? v & 0x7fffff
           : bytes == sizeof(double) ? v & 0xfffffffffffffull
                                     : v;
}

/* The x87's format has its first bit of the fraction; only the smallest numbers have none set. */
static bool is_invalid(const struct source_type *t, const uint8_t *value, size_t bytes)
{
    if ((bytes != 10 && bytes != 16) || strstr(base_name(t), "128"))
        return false;
    return (value[8] || value[9] & 0x7f) && !(value[7] & 0x80);
}

static void write_float(const struct source_type *t, const void *value, size_t bytes, char *buf,
                        size_t room)
{
    long double l;
    int digits = bytes == 2 ? 5 : bytes == sizeof(float) ? 9 : bytes == sizeof(double) ? 17 : 21;

    if (!source_value_float(t, value, bytes, &l))
        write_bytes(value, bytes, buf, room);
    else if (is_invalid(t, value, bytes))
        snprintf(buf, room, "<invalid float value>");
    else if (l != l)
        snprintf(buf, room, "%snan(0x%" PRIx64 ")", __builtin_signbit(l) ? "-" : "",
                 fraction_of(value, bytes));
    else
        snprintf(buf, room, "%.*Lg", digits, l);
}

static void write_complex(const struct source_type *t, const uint8_t *value, size_t bytes,
                          char *buf, size_t room)
{
    const size_t half = bytes / 2;
    char real[64], imaginary[64];

    write_float(t, value, half, real, sizeof real);
    write_float(t, value + half, half, imaginary, sizeof imaginary);
    snprintf(buf, room, "%s + %si", real, imaginary);
}

/* ---- enumerations ---- */

/* Does it for each enumerator, in order. Not 0 ends it. */
typedef int enumerator_fn(void *arg, const char *name, uint64_t value);

static int for_enumerators(const struct source_type *t, enumerator_fn *fn, void *arg)
{
    Dwarf_Die die, child;
    Dwarf_Attribute attribute;
    Dwarf_Sword number;
    Dwarf_Word word;
    int result = 0;

    memcpy(&die, t->die, sizeof die);
    if (!t->die[0] || dwarf_peel_type(&die, &die) || dwarf_child(&die, &child))
        return 0;
    do {
        if (dwarf_tag(&child) != DW_TAG_enumerator ||
            !dwarf_attr(&child, DW_AT_const_value, &attribute))
            continue;
        unsigned form = dwarf_whatform(&attribute);
        bool is_signed = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
        if (is_signed && !dwarf_formsdata(&attribute, &number))
            result = fn(arg, dwarf_diename(&child), (uint64_t)number);
        else if (!is_signed && !dwarf_formudata(&attribute, &word))
            result = fn(arg, dwarf_diename(&child), word);
    } while (!result && dwarf_siblingof(&child, &child) == 0);
    return result;
}

/* What stands before the names of enumerators: namespaces, classes, `enum class`. */
static void enumerator_prefix(const struct source_type *t, char *buf, size_t room)
{
    Dwarf_Die die, *scope = NULL;
    Dwarf_Attribute unused;
    size_t used = 0;

    buf[0] = 0;
    memcpy(&die, t->die, sizeof die);
    if (!t->die[0] || dwarf_peel_type(&die, &die))
        return;
    bool own = dwarf_attr(&die, DW_AT_enum_class, &unused) != NULL;
    int n = dwarf_getscopes_die(&die, &scope);
    for (int i = n - 2; i >= (own ? 0 : 1) && used < room; i--) {
        int tag = dwarf_tag(&scope[i]);
        const char *name = dwarf_diename(&scope[i]);
        if (name && (!i || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
                     tag == DW_TAG_structure_type))
            used += (size_t)snprintf(buf + used, room - used, "%s::", name);
    }
    free(scope);
}

struct enumerator {
    uint64_t v, seen;
    char prefix[256];
    const char *name;
    bool flags;
    char *buf;
    size_t room, used;
};

static int name_value(void *arg, const char *name, uint64_t value)
{
    struct enumerator *e = arg;

    e->name = value == e->v ? name : NULL;
    return e->name != NULL;
}

/* Flags have a bit each. */
static int look_at_flag(void *arg, const char *name, uint64_t value)
{
    struct enumerator *e = arg;
    (void)name;

    e->flags = e->flags && (int64_t)value >= 0 && !(value & (value - 1));
    e->seen |= value;
    return 0;
}

static int write_flag(void *arg, const char *name, uint64_t value)
{
    struct enumerator *e = arg;

    if (!(e->v & value))
        return 0;
    if (e->used < e->room)
        e->used += (size_t)snprintf(e->buf + e->used, e->room - e->used, "%s%s%s",
                                    e->used ? " | " : "(", e->prefix, name);
    e->v &= ~value;
    return 0;
}

static void write_enum(const struct source_type *t, uint64_t v, char *buf, size_t room)
{
    struct enumerator e = {.v = v, .flags = true, .buf = buf, .room = room};

    enumerator_prefix(t, e.prefix, sizeof e.prefix);
    if (for_enumerators(t, name_value, &e)) {
        snprintf(buf, room, "%s%s", e.prefix, e.name);
        return;
    }
    for_enumerators(t, look_at_flag, &e);
    if (!e.flags || !e.seen || !v) {
        snprintf(buf, room, "%" PRId64, (int64_t)v);
        return;
    }
    for_enumerators(t, write_flag, &e);
    if (e.used >= room)
        return;
    if (e.v)
        snprintf(buf + e.used, room - e.used, "%sunknown: 0x%" PRIx64 ")", e.used ? " | " : "(",
                 e.v);
    else
        snprintf(buf + e.used, room - e.used, ")");
}

/* 16 bytes, in decimal. */
static void write_wide(const void *value, bool is_signed, char *buf, size_t room)
{
    unsigned __int128 v;
    char digits[48], *at = digits + sizeof digits;

    memcpy(&v, value, sizeof v);
    bool negative = is_signed && v >> 127;
    if (negative)
        v = -v;
    *--at = 0;
    do
        *--at = (char)('0' + (int)(v % 10));
    while (v /= 10);
    snprintf(buf, room, "%s%s", negative ? "-" : "", at);
}

void source_value_write(const struct source_type *t, const void *value, size_t bytes, char *buf,
                        size_t room)
{
    enum source_class class = source_types_class(t);
    uint64_t v = number_of(value, bytes, source_types_is_signed(t));
    bool whole = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;

    if (class == TYPE_FLOAT)
        write_float(t, value, bytes, buf, room);
    else if (class == TYPE_COMPLEX)
        write_complex(t, value, bytes, buf, room);
    else if (bytes == 16 && (class == TYPE_SIGNED || class == TYPE_UNSIGNED))
        write_wide(value, class == TYPE_SIGNED, buf, room);
    else if (!whole)
        write_bytes(value, bytes, buf, room);
    else if (class == TYPE_SIGNED)
        snprintf(buf, room, "%" PRId64, (int64_t)v);
    else if (class == TYPE_BOOLEAN && v < 2)
        snprintf(buf, room, "%s", v ? "true" : "false");
    else if (class == TYPE_UNSIGNED || class == TYPE_BOOLEAN)
        snprintf(buf, room, "%" PRIu64, v);
    else if (class == TYPE_CHARACTER || class == TYPE_UCHARACTER)
        write_character(v, buf, room);
    else if (class == TYPE_ENUM)
        write_enum(t, v, buf, room);
    else
        snprintf(buf, room, "0x%" PRIx64, v);
}
