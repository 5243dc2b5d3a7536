/* types.c - types: what a value is and what its parts are. SPDX-License-Identifier: MIT */
#include "source/types.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/module.h"
#include "source/place.h"
#include "source/source_int.h"

enum { DEPTH = 32, DIMENSIONS = 16, POINTER_BYTES = 8 };

_Static_assert(sizeof(Dwarf_Die) <= sizeof(((struct source_type *)0)->die), "a type is an entry");

struct source_type source_types_of(const Dwarf_Die *die)
{
    struct source_type t = {0};

    memcpy(t.die, die, sizeof *die);
    return t;
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag;

    return dwarf_attr(die, name, &attribute) && !dwarf_formflag(&attribute, &flag) && flag;
}

struct source_type source_types_of_variable(Dwarf_Die *variable)
{
    Dwarf_Die type;

    return source_type_of(variable, &type) ? source_types_of(&type) : (struct source_type){0};
}

/* Goes on to what qualifiers and names stand for. False: to void. */
static bool peel(Dwarf_Die *die)
{
    for (int i = 0; i < DEPTH; i++) {
        switch (dwarf_tag(die)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            if (!source_type_of(die, die))
                return false;
            break;
        default:
            return true;
        }
    }
    return false;
}

bool source_types_entry(const struct source_type *t, Dwarf_Die *die)
{
    memcpy(die, t->die, sizeof *die);
    return t->die[0] != NULL;
}

static enum source_class class_of_base(Dwarf_Die *die)
{
    uint64_t encoding = 0, bytes = 0;

    source_type_number(die, DW_AT_encoding, &encoding);
    source_type_number(die, DW_AT_byte_size, &bytes);
    switch (encoding) {
    case DW_ATE_boolean:
        return TYPE_BOOLEAN;
    case DW_ATE_signed:
        return TYPE_SIGNED;
    case DW_ATE_signed_char:
        return bytes == 1 ? TYPE_CHARACTER : TYPE_SIGNED;
    case DW_ATE_unsigned_char:
        return bytes == 1 ? TYPE_UCHARACTER : TYPE_UNSIGNED;
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
        return TYPE_UNSIGNED;
    case DW_ATE_float:
        return TYPE_FLOAT;
    case DW_ATE_complex_float:
        return TYPE_COMPLEX;
    default:
        return TYPE_NONE;
    }
}

enum source_class source_types_class(const struct source_type *t)
{
    Dwarf_Die die;

    if (t->pointers)
        return TYPE_POINTER;
    if (!source_types_entry(t, &die))
        return (enum source_class)t->class;
    if (!peel(&die))
        return TYPE_VOID;
    switch (dwarf_tag(&die)) {
    case DW_TAG_base_type:
        return class_of_base(&die);
    case DW_TAG_enumeration_type:
        return TYPE_ENUM;
    case DW_TAG_pointer_type:
    case DW_TAG_unspecified_type: /* nullptr's */
        return TYPE_POINTER;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return TYPE_REFERENCE;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return TYPE_RECORD;
    case DW_TAG_array_type:
        return TYPE_ARRAY;
    case DW_TAG_subroutine_type:
        return TYPE_FUNCTION;
    default:
        return TYPE_NONE;
    }
}

bool source_types_is_signed(const struct source_type *t)
{
    Dwarf_Die die, under;
    struct source_type inner;

    switch (source_types_class(t)) {
    case TYPE_SIGNED:
    case TYPE_CHARACTER:
        return true;
    case TYPE_ENUM:
        if (!source_types_entry(t, &die) || !peel(&die) || !source_type_of(&die, &under))
            return false;
        inner = source_types_of(&under);
        return source_types_is_signed(&inner);
    default:
        return false;
    }
}

/* ---- arrays ---- */

/* A bound that is calculated: by an expression, or the value of a variable that the compiler
 * made. */
static bool bound_at_run_time(Dwarf_Attribute *attribute, const struct source_scene *scene,
                              uint64_t *value)
{
    struct source_view view = {.s = scene->source, .frame = scene->frame};
    struct source_place place = {.bytes = 0};
    Dwarf_Die variable;
    Dwarf_Attribute location;
    Dwarf_Op *op;
    size_t count;
    bool refers = dwarf_formref_die(attribute, &variable) != NULL;

    view.m = view.here = source_module_at(scene->source, scene->pc, &view.addr);
    if (!view.m || (refers && !dwarf_attr(&variable, DW_AT_location, &location)))
        return false;
    if (!refers)
        location = *attribute;
    if (dwarf_getlocation_addr(&location, view.addr, &op, &count, 1) != 1 || !count ||
        !source_expr_run(&view, &location, op, count, &place) || place.pieces != 1)
        return false;
    const struct source_piece *piece = &place.piece[0];
    *value = 0;
    switch (piece->where) {
    case SOURCE_CONSTANT:
        *value = piece->value;
        return true;
    case SOURCE_COMPUTED:
        *value = piece->value;
        return piece->known;
    case SOURCE_REGISTER:
        if (!scene->frame || !scene->frame->reg || piece->reg > 15)
            return false;
        *value = scene->frame->reg[piece->reg];
        return true;
    case SOURCE_MEMORY: /* an expression's value is the bound itself; a variable holds it */
        *value = piece->address;
        return !refers || (scene->frame && scene->frame->memory &&
                           scene->frame->memory(scene->frame->arg, piece->address, value, 8) == 8);
    default:
        return false;
    }
}

/* How many elements a dimension has. */
static bool count_of(Dwarf_Die *range, const struct source_scene *scene, uint64_t *count)
{
    Dwarf_Attribute attribute;

    if (source_type_number(range, DW_AT_count, count))
        return true;
    if (source_type_number(range, DW_AT_upper_bound, count)) {
        ++*count;
        return true;
    }
    if (scene && dwarf_attr_integrate(range, DW_AT_count, &attribute))
        return bound_at_run_time(&attribute, scene, count);
    if (!scene || !dwarf_attr_integrate(range, DW_AT_upper_bound, &attribute) ||
        !bound_at_run_time(&attribute, scene, count))
        return false;
    ++*count;
    return true;
}

/* The dimensions of an array, in order. */
static size_t dimensions_of(Dwarf_Die *array, Dwarf_Die range[DIMENSIONS])
{
    Dwarf_Die child;
    size_t n = 0;

    if (dwarf_child(array, &child))
        return 0;
    do
        if (dwarf_tag(&child) == DW_TAG_subrange_type && n < DIMENSIONS)
            range[n++] = child;
    while (dwarf_siblingof(&child, &child) == 0);
    return n;
}

static uint64_t array_bytes(const struct source_type *t, Dwarf_Die *die,
                            const struct source_scene *scene)
{
    Dwarf_Die range[DIMENSIONS], element;
    size_t n = dimensions_of(die, range);
    uint64_t count;

    if (!source_type_of(die, &element))
        return 0;
    struct source_type inner = source_types_of(&element);
    uint64_t bytes = source_types_bytes(&inner, scene);
    for (size_t i = t->passed; i < n; i++) {
        if (!count_of(&range[i], scene, &count))
            return 0;
        bytes *= count;
    }
    return bytes;
}

bool source_types_element(const struct source_type *t, struct source_type *out)
{
    Dwarf_Die die, range[DIMENSIONS], element;

    if (source_types_class(t) != TYPE_ARRAY || !source_types_entry(t, &die) || !peel(&die))
        return false;
    size_t n = dimensions_of(&die, range);
    *out = *t;
    if (++out->passed < n)
        return true;
    if (!source_type_of(&die, &element))
        return false;
    *out = source_types_of(&element);
    return true;
}

/* ---- sizes, targets ---- */

uint64_t source_types_bytes(const struct source_type *t, const struct source_scene *scene)
{
    Dwarf_Die die;
    Dwarf_Word size;

    if (t->pointers)
        return POINTER_BYTES;
    if (!source_types_entry(t, &die))
        return t->bytes;
    if (!peel(&die))
        return 0;
    switch (dwarf_tag(&die)) {
    case DW_TAG_array_type:
        return array_bytes(t, &die, scene);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type:
        return POINTER_BYTES;
    default:
        return dwarf_aggregate_size(&die, &size) ? 0 : size;
    }
}

bool source_types_target(const struct source_type *t, struct source_type *out)
{
    Dwarf_Die die, target;

    *out = *t;
    if (t->pointers) {
        out->pointers--;
        return true;
    }
    if (!source_types_entry(t, &die) || !peel(&die))
        return false;
    switch (dwarf_tag(&die)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        *out = source_type_of(&die, &target) ? source_types_of(&target)
                                             : source_types_plain(TYPE_VOID, 0);
        return true;
    default:
        return false;
    }
}

/* ---- members ---- */

/* Where a member is. False: not at a fixed offset, as in a virtual base. */
static bool place_member(Dwarf_Die *die, struct source_member *out)
{
    uint64_t bit, bits, offset = 0;
    Dwarf_Attribute attribute;

    if (!source_type_number(die, DW_AT_data_member_location, &offset) &&
        dwarf_attr(die, DW_AT_data_member_location, &attribute))
        return false;
    out->offset = offset;
    out->bit = out->bits = 0;
    if (!source_type_number(die, DW_AT_bit_size, &bits))
        return true;
    if (source_type_number(die, DW_AT_bit_offset, &bit)) /* before DWARF 4, from the other end */
        bit = 8 * (offset + source_types_bytes(&out->type, NULL)) - bit - bits;
    else if (!source_type_number(die, DW_AT_data_bit_offset, &bit))
        bit = 8 * offset;
    out->offset = bit / 8;
    out->bit = (uint32_t)(bit % 8);
    out->bits = (uint32_t)bits;
    return true;
}

/* Looks for a member: 1 found, 0 not there, -1 with *err set. */
static int find_member(Dwarf_Die *record, const char *name, int depth, struct source_member *out,
                       struct err *err)
{
    Dwarf_Die child, type;

    if (depth > DEPTH || dwarf_child(record, &child))
        return 0;
    do {
        int tag = dwarf_tag(&child);
        const char *called = dwarf_diename(&child);
        bool named = called && strcmp(called, name) == 0;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance && tag != DW_TAG_variable) ||
            !source_type_of(&child, &type))
            continue;
        if (named && (tag == DW_TAG_variable || flag_of(&child, DW_AT_declaration))) {
            const char *class = dwarf_diename(record);
            snprintf(out->global, sizeof out->global, "%s%s%s", class ? class : "",
                     class ? "::" : "", name);
            return 1;
        }
        bool inside = tag == DW_TAG_inheritance || (tag == DW_TAG_member && !called);
        if (tag == DW_TAG_variable || (!named && !inside))
            continue;
        struct source_member here = {.type = source_types_of(&type)};
        bool placed = place_member(&child, &here);
        int found = named ? 1 : peel(&type) ? find_member(&type, name, depth + 1, out, err) : 0;
        if (!found)
            continue;
        if (found > 0 && !placed)
            return err_set(err, "%s: it is in a virtual base, whose place is not looked up", name);
        if (named)
            *out = here;
        else
            out->offset += here.offset;
        return found;
    } while (dwarf_siblingof(&child, &child) == 0);
    return 0;
}

/* The entry of a record with its members, of another unit if this one only declares it. */
static bool whole_record(struct source *s, const struct source_type *t, Dwarf_Die *die)
{
    struct source_type whole;

    if (source_types_class(t) != TYPE_RECORD || !source_types_entry(t, die) || !peel(die))
        return false;
    if (!flag_of(die, DW_AT_declaration))
        return true;
    return dwarf_diename(die) && source_types_named(s, 0, dwarf_diename(die), &whole) &&
           source_types_entry(&whole, die);
}

static bool constant_of(Dwarf_Die *die, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword number;

    if (!dwarf_attr(die, DW_AT_const_value, &attribute) || dwarf_formsdata(&attribute, &number))
        return false;
    *value = (uint64_t)number;
    return true;
}

/* What an entry in a record is. False: none that has a value. */
static bool field_of(Dwarf_Die *record, Dwarf_Die *die, struct source_field *out)
{
    int tag = dwarf_tag(die);
    Dwarf_Die type;

    *out = (struct source_field){.name = dwarf_diename(die), .base = tag == DW_TAG_inheritance};
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance && tag != DW_TAG_variable) ||
        !source_type_of(die, &type))
        return false;
    out->member.type = source_types_of(&type);
    if (tag == DW_TAG_variable || flag_of(die, DW_AT_declaration)) {
        const char *class = dwarf_diename(record);
        snprintf(out->member.global, sizeof out->member.global, "%s%s%s", class ? class : "",
                 class ? "::" : "", out->name ? out->name : "");
        out->constant = constant_of(die, &out->value);
        return true;
    }
    out->displaced = !place_member(die, &out->member);
    return true;
}

int source_types_fields(struct source *s, const struct source_type *t, source_field_fn *fn,
                        void *arg)
{
    Dwarf_Die die, child;
    struct source_field field;
    int result = 0;

    if (!whole_record(s, t, &die))
        return 0;
    for (int bases = 1; bases >= 0 && !result; bases--) {
        if (dwarf_child(&die, &child))
            return 0;
        do
            if (field_of(&die, &child, &field) && field.base == bases)
                result = fn(arg, &field);
        while (!result && dwarf_siblingof(&child, &child) == 0);
    }
    return result;
}

/* Names of members, for a message. */
static void list_members(Dwarf_Die *record, char *buf, size_t room)
{
    Dwarf_Die child;
    size_t used = 0;

    buf[0] = 0;
    if (dwarf_child(record, &child))
        return;
    do {
        const char *name = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (name && used < room)
            used +=
                (size_t)snprintf(buf + used, room - used, "%s%s", used ? ", " : ": it has ", name);
    } while (dwarf_siblingof(&child, &child) == 0);
}

int source_types_member(struct source *s, const struct source_type *t, const char *name,
                        struct source_member *out, struct err *err)
{
    Dwarf_Die die;
    char called[200], members[200];

    *out = (struct source_member){.global = ""};
    source_types_name(t, called, sizeof called);
    if (source_types_class(t) != TYPE_RECORD || !source_types_entry(t, &die) || !peel(&die))
        return err_set(err, "%s: %s has no members%s", name, called[0] ? called : "it",
                       source_types_class(t) == TYPE_POINTER ? "; a pointer's are behind ->" : "");
    if (!whole_record(s, t, &die))
        return err_set(err, "%s: of %s only the name is known", name, called);
    int found = find_member(&die, name, 0, out, err);
    if (found)
        return found > 0 ? 0 : -1;
    list_members(&die, members, sizeof members);
    return err_set(err, "%s: no such member of %s%s", name, called, members);
}

/* ---- by name ---- */

static bool is_tag(int tag, int wanted)
{
    bool record = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                  tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;

    return wanted ? record : record || tag == DW_TAG_typedef || tag == DW_TAG_base_type;
}

/* Among the children of an entry; names of namespaces and classes are followed by `::`. */
static bool find_type(Dwarf_Die *parent, const char *name, int wanted, int depth, Dwarf_Die *out)
{
    Dwarf_Die child;
    size_t length = strcspn(name, ":");

    if (depth > DEPTH || dwarf_child(parent, &child))
        return false;
    do {
        const char *called = dwarf_diename(&child);
        int tag = dwarf_tag(&child);
        bool outer =
            tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
        if (!called && tag == DW_TAG_namespace && find_type(&child, name, wanted, depth + 1, out))
            return true;
        if (!called || strncmp(called, name, length) != 0 || called[length])
            continue;
        if (name[length] && outer && find_type(&child, name + length + 2, wanted, depth + 1, out))
            return true;
        if (name[length] || !is_tag(tag, wanted) || flag_of(&child, DW_AT_declaration))
            continue;
        *out = child;
        return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static bool find_in_unit(const struct source_mod *m, size_t unit, const char *name, int wanted,
                         struct source_type *out)
{
    Dwarf_Die die, found;

    if (!source_scopes_die(m, (uint32_t)unit, m->unit[unit].entries, &die) ||
        !find_type(&die, name, wanted, 0, &found))
        return false;
    *out = source_types_of(&found);
    return true;
}

bool source_types_named(struct source *s, gaddr pc, const char *name, struct source_type *out)
{
    static const char *const tags[] = {"struct ", "union ", "enum ", "class "};
    uint64_t addr;
    int wanted = 0;
    struct source_mod *here = pc ? source_units_at(s, pc, &addr) : NULL;
    int32_t scope = here ? source_scopes_at(here, addr) : SOURCE_NONE;

    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strncmp(name, tags[i], strlen(tags[i])) == 0) {
            name += strlen(tags[i]);
            wanted = 1;
            break;
        }
    if (scope != SOURCE_NONE && find_in_unit(here, here->scope[scope].unit, name, wanted, out))
        return true;
    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        source_module_read(s, m);
        for (size_t u = 0; u < m->units; u++)
            if (find_in_unit(m, u, name, wanted, out))
                return true;
    }
    return false;
}

bool source_types_are_cxx(struct source *s, gaddr pc)
{
    uint64_t addr;
    struct source_mod *here = pc ? source_units_at(s, pc, &addr) : NULL;
    int32_t scope = here ? source_scopes_at(here, addr) : SOURCE_NONE;

    return scope != SOURCE_NONE && here->unit[here->scope[scope].unit].cxx;
}

static const char *word_of(int tag)
{
    switch (tag) {
    case DW_TAG_structure_type:
        return "struct ";
    case DW_TAG_union_type:
        return "union ";
    case DW_TAG_enumeration_type:
        return "enum ";
    default:
        return "";
    }
}

void source_types_name(const struct source_type *t, char *buf, size_t room)
{
    Dwarf_Die die;
    struct source_type target;
    char inner[100] = "";

    buf[0] = 0;
    if (t->pointers || !source_types_entry(t, &die)) {
        snprintf(buf, room, "%s", t->pointers ? "a pointer" : "a value without type");
        return;
    }
    const char *name = dwarf_diename(&die);
    if (name && dwarf_tag(&die) == DW_TAG_typedef) {
        snprintf(buf, room, "%s", name);
        return;
    }
    if (!peel(&die)) {
        snprintf(buf, room, "void");
        return;
    }
    name = dwarf_diename(&die);
    switch (source_types_class(t)) {
    case TYPE_POINTER:
    case TYPE_REFERENCE:
        if (source_types_target(t, &target))
            source_types_name(&target, inner, sizeof inner);
        snprintf(buf, room, "%s %s", inner, source_types_class(t) == TYPE_POINTER ? "*" : "&");
        break;
    case TYPE_ARRAY:
        snprintf(buf, room, "an array");
        break;
    case TYPE_FUNCTION:
        snprintf(buf, room, "a function");
        break;
    default:
        snprintf(buf, room, "%s%s", word_of(dwarf_tag(&die)), name ? name : "{...}");
    }
}
