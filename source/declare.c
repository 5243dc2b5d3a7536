/* declare.c - types as C and C++ declare them, the way GDB writes them. SPDX-License-Identifier:
 * MIT
 *
 * A declarator grows around what is inside of it: `*`, then `(*)[3]`, and at last the name in
 * front: `int (*)[3]`.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/place.h"
#include "source/source_int.h"
#include "source/types.h"

enum { TEXT = 512, DEPTH = 32 };

struct declaration {
    bool cxx;
    int depth;
    bool is_const, is_volatile, is_restrict; /* of what comes next */
    char inner[TEXT];                        /* the declarator so far */
};

static void declare(struct declaration *d, Dwarf_Die *die, unsigned passed, char *buf, size_t room);

/* ---- names ---- */

/* The name of an entry with the namespaces and classes around it. */
static void full_name(Dwarf_Die *die, char *buf, size_t room)
{
    Dwarf_Die *scope = NULL;
    size_t used = 0;
    int n = dwarf_getscopes_die(die, &scope);

    buf[0] = 0;
    for (int i = n - 2; i > 0 && used < room; i--) { /* the unit is the last, itself the first */
        int tag = dwarf_tag(&scope[i]);
        const char *name = dwarf_diename(&scope[i]);
        if (tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
            tag == DW_TAG_union_type)
            used += (size_t)snprintf(buf + used, room - used,
                                     "%s::", name ? name : "(anonymous namespace)");
    }
    free(scope);
    if (used < room)
        snprintf(buf + used, room - used, "%s", dwarf_diename(die));
}

/* GDB's words for C's own types. */
static const char *canonical(const char *name)
{
    static const char *const words[][2] = {{"long int", "long"},
                                           {"short int", "short"},
                                           {"long long int", "long long"},
                                           {"long unsigned int", "unsigned long"},
                                           {"short unsigned int", "unsigned short"},
                                           {"long long unsigned int", "unsigned long long"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], name) == 0)
            return words[i][1];
    return name;
}

static void type_name(const struct declaration *d, Dwarf_Die *die, char *buf, size_t room)
{
    int tag = dwarf_tag(die);
    const char *word = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ? "struct "
                       : tag == DW_TAG_union_type                               ? "union "
                       : tag == DW_TAG_enumeration_type                         ? "enum "
                                                                                : "";
    char name[TEXT];

    if (!dwarf_diename(die)) {
        snprintf(buf, room, "%s{...}", tag == DW_TAG_class_type ? "class " : word);
        return;
    }
    if (d->cxx)
        full_name(die, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s", dwarf_diename(die));
    snprintf(buf, room, "%s%s", d->cxx ? "" : word, canonical(name));
}

/* What stands in front of all declarators. */
static void finish(const struct declaration *d, const char *name, char *buf, size_t room)
{
    snprintf(buf, room, "%s%s%s%s%s", d->is_const ? "const " : "",
             d->is_volatile ? "volatile " : "", name, d->inner[0] ? " " : "", d->inner);
}

/* ---- declarators ---- */

/* `*`, `&` before what is inside; in brackets, if an array or function follows. */
static void wrap(struct declaration *d, const char *mark, Dwarf_Die *target, bool to_void)
{
    char inner[TEXT + 64];
    int tag = to_void ? 0 : dwarf_tag(target);
    bool brackets = tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;

    snprintf(inner, sizeof inner, "%s%s%s%s%s%s", brackets ? "(" : "", mark,
             d->is_const ? " const" : "", d->is_volatile ? " volatile" : "",
             d->is_restrict ? " restrict" : "", d->inner);
    snprintf(d->inner, sizeof d->inner, "%.*s%s", TEXT - 2, inner, brackets ? ")" : "");
    d->is_const = d->is_volatile = d->is_restrict = false;
}

static void append(struct declaration *d, const char *text)
{
    size_t used = strlen(d->inner);
    snprintf(d->inner + used, sizeof d->inner - used, "%s", text);
}

static void declare_array(struct declaration *d, Dwarf_Die *die, unsigned passed)
{
    Dwarf_Die child;
    uint64_t count;
    char text[32];
    unsigned n = 0;

    if (dwarf_child(die, &child))
        return;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type || n++ < passed)
            continue;
        if (source_type_number(&child, DW_AT_upper_bound, &count))
            count++;
        else if (!source_type_number(&child, DW_AT_count, &count))
            count = UINT64_MAX;
        snprintf(text, sizeof text, count == UINT64_MAX ? "[]" : "[%" PRIu64 "]", count);
        append(d, text);
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* `(int, char *)`: the types of an entry's parameters. */
static void declare_parameters(Dwarf_Die *die, bool cxx, int depth, char *buf, size_t room)
{
    Dwarf_Die child, type;
    Dwarf_Attribute unused;
    char text[TEXT];
    size_t used = (size_t)snprintf(buf, room, "("), begin = used;

    if (dwarf_child(die, &child) == 0)
        do {
            int tag = dwarf_tag(&child);
            struct declaration d = {.cxx = cxx, .depth = depth + 1};
            if (tag == DW_TAG_unspecified_parameters)
                snprintf(text, sizeof text, "...");
            else if (tag == DW_TAG_formal_parameter &&
                     !dwarf_hasattr_integrate(&child, DW_AT_artificial) &&
                     source_type_of(&child, &type))
                declare(&d, &type, 0, text, sizeof text);
            else
                continue;
            if (used < room)
                used += (size_t)snprintf(buf + used, room - used, "%s%s", used > begin ? ", " : "",
                                         text);
        } while (dwarf_siblingof(&child, &child) == 0);
    bool none = used == begin && (cxx || dwarf_attr_integrate(die, DW_AT_prototyped, &unused));
    if (used < room)
        snprintf(buf + used, room - used, none ? "void)" : ")");
}

/* Goes one step inwards. False: there is nothing more, *die is what is in front; `to_void`: void.
 */
static bool step(struct declaration *d, Dwarf_Die *die, unsigned passed, bool *to_void)
{
    char text[TEXT];
    int tag = dwarf_tag(die);
    Dwarf_Die next;
    bool is_void = !source_type_of(die, &next);

    switch (tag) {
    case DW_TAG_const_type:
        d->is_const = true;
        break;
    case DW_TAG_volatile_type:
        d->is_volatile = true;
        break;
    case DW_TAG_restrict_type:
        d->is_restrict = true;
        break;
    case DW_TAG_atomic_type:
        break;
    case DW_TAG_pointer_type:
        wrap(d, "*", &next, is_void);
        break;
    case DW_TAG_reference_type:
        wrap(d, "&", &next, is_void);
        break;
    case DW_TAG_rvalue_reference_type:
        wrap(d, "&&", &next, is_void);
        break;
    case DW_TAG_array_type:
        declare_array(d, die, passed);
        break;
    case DW_TAG_subroutine_type:
        declare_parameters(die, d->cxx, d->depth, text, sizeof text);
        append(d, text);
        break;
    default:
        return false;
    }
    *to_void = is_void;
    if (!is_void)
        *die = next;
    return true;
}

static void declare(struct declaration *d, Dwarf_Die *die, unsigned passed, char *buf, size_t room)
{
    char name[TEXT] = "void";
    bool to_void = false;
    Dwarf_Die at = *die;

    for (int i = 0; i < DEPTH && d->depth < DEPTH && !to_void && step(d, &at, passed, &to_void);
         i++)
        passed = 0;
    if (!to_void)
        type_name(d, &at, name, sizeof name);
    finish(d, name, buf, room);
}

/* ---- types ---- */

/* The words of a type that needs no debug information. */
static const char *plain_name(const struct source_type *t)
{
    static const struct {
        uint8_t class, bytes;
        const char *name;
    } names[] = {{TYPE_VOID, 0, "void"},
                 {TYPE_BOOLEAN, 1, "bool"},
                 {TYPE_CHARACTER, 1, "char"},
                 {TYPE_UCHARACTER, 1, "unsigned char"},
                 {TYPE_SIGNED, 1, "signed char"},
                 {TYPE_SIGNED, 2, "short"},
                 {TYPE_SIGNED, 4, "int"},
                 {TYPE_SIGNED, 8, "long"},
                 {TYPE_UNSIGNED, 1, "unsigned char"},
                 {TYPE_UNSIGNED, 2, "unsigned short"},
                 {TYPE_UNSIGNED, 4, "unsigned int"},
                 {TYPE_UNSIGNED, 8, "unsigned long"},
                 {TYPE_FLOAT, 4, "float"},
                 {TYPE_FLOAT, 8, "double"},
                 {TYPE_FLOAT, 16, "long double"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].class == t->class && names[i].bytes == t->bytes)
            return names[i].name;
    return "void";
}

void source_types_declare(const struct source_type *t, bool cxx, char *buf, size_t room)
{
    struct declaration d = {.cxx = cxx};
    Dwarf_Die die;

    memcpy(&die, t->die, sizeof die);
    for (unsigned i = 0; i < t->pointers; i++) /* only the first is in front of an array */
        wrap(&d, "*", &die, !t->die[0] || i + 1 < t->pointers);
    if (t->die[0])
        declare(&d, &die, t->passed, buf, room);
    else
        finish(&d, plain_name(t), buf, room);
}

bool source_types_signature(struct source *s, gaddr pc, char *buf, size_t room)
{
    uint64_t addr;
    Dwarf_Die die;
    struct source_mod *m = source_module_at(s, pc, &addr);
    int32_t scope = m ? source_scopes_function(m, source_scopes_at(m, addr)) : SOURCE_NONE;
    char parameters[TEXT];

    if (scope == SOURCE_NONE || m->scope[scope].entry != addr || !m->scope[scope].name ||
        !m->unit[m->scope[scope].unit].cxx ||
        !source_scopes_die(m, m->scope[scope].unit, m->scope[scope].die, &die))
        return false;
    declare_parameters(&die, true, 0, parameters, sizeof parameters);
    snprintf(buf, room, "%s%s", m->scope[scope].name,
             strcmp(parameters, "(void)") == 0 ? "()" : parameters);
    return true;
}
