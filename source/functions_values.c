/* functions_values.c - where functions begin, and what they are given. SPDX-License-Identifier: MIT
 */
#include <dwarf.h>
#include <string.h>

#include "source/functions_int.h"
#include "source/place.h"
#include "source/source_int.h"

gaddr functions_body(struct source *s, gaddr entry)
{
    uint64_t addr;
    const struct source_mod *m = source_module_at(s, entry, &addr);

    return m ? source_prologue_skip(m, addr) + m->bias : entry;
}

Dwarf_Die *functions_entry(struct source *s, const struct functions_one *f, Dwarf_Die *die)
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

    if (f->kind != FUNCTIONS_INLINED || !m || !functions_entry(s, f, &die) ||
        dwarf_entrypc(&die, &at))
        return f->entry;
    return at + m->bias;
}

uint32_t functions_inside(struct source *s, const struct functions_one *f, gaddr pc)
{
    uint64_t addr;
    uint32_t n = 0;
    const struct source_mod *m = source_module_at(s, pc, &addr);
    int32_t scope = m ? source_scopes_at(m, addr) : SOURCE_NONE;

    for (; scope != SOURCE_NONE && scope != f->scope; scope = m->scope[scope].parent)
        n += m->scope[scope].kind == SOURCE_INLINED;
    return n;
}

/* Compilers list the parameters of an inlined instance in any order, and only those that they know
 * something of. */
size_t functions_parameters(struct source *s, const struct functions_one *f, const char **name,
                            size_t room)
{
    Dwarf_Die die, child;
    Dwarf_Attribute origin;
    size_t n = 0;

    if (!functions_entry(s, f, &die))
        return 0;
    if (f->kind == FUNCTIONS_INLINED && dwarf_attr(&die, DW_AT_abstract_origin, &origin) &&
        !dwarf_formref_die(&origin, &die))
        return 0;
    if (dwarf_child(&die, &child))
        return 0;
    do {
        const char *is =
            dwarf_tag(&child) == DW_TAG_formal_parameter ? dwarf_diename(&child) : NULL;
        if (is && n < room)
            name[n++] = is;
    } while (dwarf_siblingof(&child, &child) == 0);
    return n;
}
