/* type.c - the path from a variable to a part of it, by its type.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "source/place.h"
#include "source/source_int.h"

enum { DIMENSIONS = 8, DEPTH = 32, ATOMICS_MOST = 1 << 16 };

/* What is looked for in a type, and what was found on the way. */
struct part {
    Dwarf_Die type;
    uint64_t offset, bytes;
    char *buf;
    size_t room, length;
    bool atomic;
    const struct source_index *index; /* NULL: none */
    bool indexed;                     /* an array that it is of was met */
};

static void append(struct part *part, const char *before, const char *text)
{
    if (part->length >= part->room)
        return;
    int n = snprintf(part->buf + part->length, part->room - part->length, "%s%s", before, text);
    part->length += n > 0 ? (size_t)n : 0;
}

bool source_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

bool source_type_number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word))
        return false;
    *value = word;
    return true;
}

/* Goes on to what qualifiers and names stand for. */
static bool peel(struct part *part)
{
    for (int i = 0; i < DEPTH; i++) {
        switch (dwarf_tag(&part->type)) {
        case DW_TAG_atomic_type:
            part->atomic = true;
            break;
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
            break;
        default:
            return true;
        }
        if (!source_type_of(&part->type, &part->type))
            return false;
    }
    return false;
}

/* How many elements a dimension has; 0 if it does not say. */
static uint64_t count_of(Dwarf_Die *range)
{
    uint64_t value;

    if (source_type_number(range, DW_AT_count, &value))
        return value;
    return source_type_number(range, DW_AT_upper_bound, &value) ? value + 1 : 0;
}

/* The dimensions of an array; returns how many, 0 if that is not known. */
static size_t dimensions_of(Dwarf_Die *array, Dwarf_Die *element, uint64_t count[DIMENSIONS],
                            uint64_t *bytes)
{
    size_t dimensions = 0;
    Dwarf_Die child;
    Dwarf_Word size;

    if (!source_type_of(array, element) || dwarf_aggregate_size(element, &size) || !size ||
        dwarf_child(array, &child))
        return 0;
    do
        if (dwarf_tag(&child) == DW_TAG_subrange_type && dimensions < DIMENSIONS)
            count[dimensions++] = count_of(&child);
    while (dwarf_siblingof(&child, &child) == 0);
    *bytes = size;
    return dimensions;
}

static bool into_array(struct part *part)
{
    uint64_t count[DIMENSIONS], stride[DIMENSIONS], bytes;
    Dwarf_Die element;
    size_t dimensions = dimensions_of(&part->type, &element, count, &bytes);

    if (!dimensions)
        return false;
    for (size_t i = dimensions; i-- > 0; bytes *= count[i] ? count[i] : 1)
        stride[i] = bytes;
    for (size_t i = 0; i < dimensions; i++) {
        char number[32];
        bool named = part->index && part->index->stride == stride[i] && !part->indexed &&
                     part->offset < stride[i];
        if (part->offset % stride[i] + part->bytes > stride[i])
            return false;
        snprintf(number, sizeof number, "%llu", (unsigned long long)(part->offset / stride[i]));
        append(part, "[", named ? part->index->text : number);
        append(part, "", "]");
        part->indexed = part->indexed || named;
        part->offset %= stride[i];
    }
    part->type = element;
    return true;
}

/* The bytes that a member has. */
static bool extent(Dwarf_Die *member, uint64_t *offset, uint64_t *bytes)
{
    Dwarf_Die type;
    Dwarf_Word size;
    uint64_t bit, bits;

    if (!source_type_of(member, &type) || dwarf_aggregate_size(&type, &size))
        return false;
    *bytes = size;
    if (!source_type_number(member, DW_AT_data_member_location, offset))
        *offset = 0; /* of a union */
    if (!source_type_number(member, DW_AT_bit_size, &bits))
        return true;
    if (source_type_number(member, DW_AT_bit_offset, &bit)) /* before DWARF 4, from the other end */
        bit = 8 * (*offset + size) - bit - bits;
    else if (!source_type_number(member, DW_AT_data_bit_offset, &bit))
        bit = 8 * *offset;
    *offset = bit / 8;
    *bytes = (bit + bits + 7) / 8 - *offset;
    return true;
}

/* The smallest of the members that have all the bytes; the first of equal ones. */
static bool into_member(struct part *part)
{
    Dwarf_Die child, best, type;
    uint64_t best_offset = 0, best_bytes = UINT64_MAX, offset, bytes;

    if (dwarf_child(&part->type, &child))
        return false;
    do {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !extent(&child, &offset, &bytes))
            continue;
        if (part->offset >= offset && part->offset + part->bytes <= offset + bytes &&
            bytes < best_bytes) {
            best = child;
            best_offset = offset;
            best_bytes = bytes;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    if (best_bytes == UINT64_MAX || !source_type_of(&best, &type))
        return false;
    const char *name = dwarf_tag(&best) == DW_TAG_member ? dwarf_diename(&best) : NULL;
    if (name)
        append(part, ".", name);
    part->offset -= best_offset;
    part->type = type;
    return true;
}

/* A class of the C++ library that is atomic as a whole. */
static bool is_atomic_class(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);

    return name && (strncmp(name, "atomic<", 7) == 0 || strncmp(name, "__atomic_base<", 14) == 0 ||
                    strcmp(name, "atomic_flag") == 0 || strncmp(name, "__atomic_float<", 15) == 0);
}

/* Goes on to the smallest part that has the bytes. */
static void descend(struct part *part)
{
    for (int i = 0; i < DEPTH && peel(part); i++) {
        int tag = dwarf_tag(&part->type);
        if (tag == DW_TAG_array_type) {
            if (!into_array(part))
                break;
        } else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                   tag == DW_TAG_union_type) {
            part->atomic |= is_atomic_class(&part->type);
            if ((part->atomic && !part->index) || !into_member(part))
                break;
        } else {
            break;
        }
    }
}

/* Its type, if the bytes are all of it. */
static void type_part(const struct part *part, struct source_type *type)
{
    *type = source_types_of(&part->type);
    uint64_t size = source_types_bytes(type, NULL);
    if (size == 16 && part->bytes == 10 && source_types_class(type) == TYPE_FLOAT)
        size = part->bytes; /* long double: the rest is padding, and never written */
    if (part->offset || size != part->bytes)
        *type = (struct source_type){0};
}

bool source_type_path(Dwarf_Die *die, uint64_t offset, uint64_t bytes, char *buf, size_t room,
                      struct source_type *type)
{
    struct part part = {.offset = offset, .bytes = bytes, .buf = buf, .room = room};

    if (room)
        buf[0] = 0;
    if (type)
        *type = (struct source_type){0};
    if (!source_type_of(die, &part.type))
        return false;
    descend(&part);
    if (type)
        type_part(&part, type);
    return part.atomic;
}

bool source_type_part(Dwarf_Die *of, uint64_t offset, uint64_t bytes,
                      const struct source_index *index, char *buf, size_t room,
                      struct source_type *type)
{
    struct part part = {
        .type = *of, .offset = offset, .bytes = bytes, .buf = buf, .room = room, .index = index};

    buf[0] = 0;
    descend(&part);
    type_part(&part, type);
    return part.length < room && part.indexed == (index != NULL);
}

uint64_t source_type_bytes(Dwarf_Die *die)
{
    Dwarf_Die type;
    Dwarf_Word bytes;

    return source_type_of(die, &type) && !dwarf_aggregate_size(&type, &bytes) ? bytes : 0;
}

/* ---- atomic parts ---- */

struct atomics {
    source_type_fn *fn;
    void *arg;
    uint32_t told;
};

static void tell_atomics(struct atomics *a, Dwarf_Die *type, uint64_t offset, int depth);

static void tell_elements(struct atomics *a, Dwarf_Die *array, uint64_t offset, int depth)
{
    uint64_t count[DIMENSIONS], bytes, elements = 1;
    Dwarf_Die element;
    size_t dimensions = dimensions_of(array, &element, count, &bytes);

    for (size_t i = 0; i < dimensions; i++)
        elements = count[i] && elements < ATOMICS_MOST ? elements * count[i] : elements;
    for (uint64_t i = 0; dimensions && i < elements && a->told < ATOMICS_MOST; i++) {
        uint32_t before = a->told;
        tell_atomics(a, &element, offset + i * bytes, depth);
        if (a->told == before)
            return; /* as the first, so all */
    }
}

static void tell_members(struct atomics *a, Dwarf_Die *type, uint64_t offset, int depth)
{
    Dwarf_Die child, inner;
    uint64_t at, bytes;

    if (dwarf_child(type, &child))
        return;
    do {
        int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && extent(&child, &at, &bytes) &&
            source_type_of(&child, &inner))
            tell_atomics(a, &inner, offset + at, depth);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void tell_atomics(struct atomics *a, Dwarf_Die *type, uint64_t offset, int depth)
{
    struct part part = {.type = *type};
    Dwarf_Word size;

    if (depth == DEPTH || !peel(&part))
        return;
    int tag = dwarf_tag(&part.type);
    bool members =
        tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
    if (part.atomic || (members && is_atomic_class(&part.type))) {
        if (dwarf_aggregate_size(&part.type, &size) || !size)
            return;
        a->told++;
        a->fn(a->arg, offset, size);
    } else if (tag == DW_TAG_array_type) {
        tell_elements(a, &part.type, offset, depth + 1);
    } else if (members) {
        tell_members(a, &part.type, offset, depth + 1);
    }
}

void source_type_atomics(Dwarf_Die *die, source_type_fn *fn, void *arg)
{
    struct atomics a = {.fn = fn, .arg = arg};
    Dwarf_Die type;

    if (source_type_of(die, &type))
        tell_atomics(&a, &type, 0, 0);
}
