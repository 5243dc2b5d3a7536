/* functions_values.c - what a function is given and gives back. SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "source/functions.h"
#include "source/place.h"
#include "source/source_int.h"
#include "source/types.h"

gaddr functions_body(struct source *s, gaddr entry)
{
    uint64_t addr;
    const struct source_mod *m = source_module_at(s, entry, &addr);

    return m ? source_prologue_skip(m, addr) + m->bias : entry;
}

/* The entry of the function, or of the inlined instance, that begins there. */
static Dwarf_Die *entry_of(struct source *s, const struct functions_one *f, Dwarf_Die *die)
{
    uint64_t addr;
    const struct source_mod *m = source_module_at(s, f->entry, &addr);
    int32_t scope = f->scope;

    if (m && scope == SOURCE_NONE) {
        scope = source_scopes_function(m, source_scopes_at(m, addr));
        if (scope != SOURCE_NONE && m->scope[scope].entry != addr)
            scope = SOURCE_NONE;
    }
    if (!m || scope == SOURCE_NONE)
        return NULL;
    return source_scopes_die(m, m->scope[scope].unit, m->scope[scope].die, die);
}

/* GDB stops at the lowest address of an inlined instance, which a compiler may have moved out of
 * the loop that the call is in. */
gaddr functions_entered(struct source *s, const struct functions_one *f)
{
    Dwarf_Die die;
    Dwarf_Addr at;
    uint64_t addr;
    const struct source_mod *m = source_module_at(s, f->entry, &addr);

    if (f->kind != FUNCTIONS_INLINED || !m || !entry_of(s, f, &die) || dwarf_entrypc(&die, &at))
        return f->entry;
    return at + m->bias;
}

size_t functions_parameters(struct source *s, const struct functions_one *f, const char **name,
                            size_t room)
{
    Dwarf_Die die, child;
    size_t n = 0;

    if (!entry_of(s, f, &die) || dwarf_child(&die, &child))
        return 0;
    do {
        const char *is =
            dwarf_tag(&child) == DW_TAG_formal_parameter ? dwarf_diename(&child) : NULL;
        if (is && n < room)
            name[n++] = is;
    } while (dwarf_siblingof(&child, &child) == 0);
    return n;
}

/* A type without a name cannot be written: a number of its size will do. */
static void cast_to(struct source *s, gaddr pc, const struct source_type *t, char *buf, size_t room)
{
    source_types_declare(t, source_types_are_cxx(s, pc), buf, room);
    if (strchr(buf, '{'))
        snprintf(buf, room, "%s",
                 source_types_class(t) == TYPE_POINTER        ? "void *"
                 : source_types_bytes(t, NULL) == sizeof(int) ? "int"
                                                              : "long");
}

bool functions_result(struct source *s, const struct functions_one *f, char *buf, size_t room)
{
    Dwarf_Die die, type;
    char name[256];

    if (!entry_of(s, f, &die) || !source_type_of(&die, &type))
        return false;
    struct source_type t = source_types_of(&type);
    uint64_t bytes = source_types_bytes(&t, NULL);
    switch (source_types_class(&t)) {
    case TYPE_FLOAT:
        snprintf(buf, room, "%s", bytes == 4 ? "$xmm0.v4_float[0]" : "$xmm0.v2_double[0]");
        return bytes <= 8;
    case TYPE_SIGNED:
    case TYPE_UNSIGNED:
    case TYPE_BOOLEAN:
    case TYPE_CHARACTER:
    case TYPE_UCHARACTER:
    case TYPE_ENUM:
    case TYPE_POINTER:
        cast_to(s, f->entry, &t, name, sizeof name);
        snprintf(buf, room, "(%s)$rax", name);
        return bytes <= 8;
    case TYPE_RECORD: /* a large one is in memory, and rax says where */
        source_types_declare(&t, source_types_are_cxx(s, f->entry), name, sizeof name);
        snprintf(buf, room, "*(%s *)$rax", name);
        return bytes > 16 && !strchr(name, '{');
    default:
        return false;
    }
}
