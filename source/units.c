/* units.c - the tables of a single compilation unit.
 *
 * SPDX-License-Identifier: MIT
 *
 * A C library has 1,700 units, and a question is often about one pc of it. As long as nobody needs
 * the tables of the whole module, the unit that has the pc is read alone: as a module that has no
 * other unit, but all symbols. The ranges that the compiler lists (.debug_aranges) say which unit
 * it is. What they do not say, and names of C++ that other units declare, need the whole module.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "source/frame_int.h"
#include "source/module.h"
#include "source/source_int.h"

void source_units_forget(struct source_mod *m)
{
    for (size_t i = 0; i < m->units; i++) {
        for (size_t t = 0; t < m->unit[i].tables; t++)
            free(m->unit[i].table[t].row);
        free(m->unit[i].table);
    }
    free(m->unit);
    free(m->row);
    free(m->scope);
    free(m->range);
    free(m->span);
    free(m->var);
    free(m->global);
    free(m->lasting);
}

void source_units_free(struct source_mod *m)
{
    for (size_t i = 0; i < m->alone.room; i++)
        if (m->alone.slot[i].key) {
            source_units_forget(m->alone.slot[i].unit);
            free(m->alone.slot[i].unit);
        }
    free(m->alone.slot);
}

bool source_units_same(const struct source_mod *m, const struct source_mod *other)
{
    return m == other || (m && other && m->elf && m->elf == other->elf);
}

/* A module of no units: it has the file and the symbols of this one. */
static struct source_mod *bare(struct source *s, struct source_mod *m)
{
    struct source_mod *new = malloc(sizeof *new);

    if (!new)
        abort();
    source_symbols_all(s, m);
    *new = *m;
    new->part = true;
    new->unit = NULL;
    new->row = NULL;
    new->scope = NULL;
    new->range = NULL;
    new->span = NULL;
    new->var = NULL;
    new->global = new->lasting = NULL;
    new->units = new->rows = new->scopes = new->ranges = new->spans = 0;
    new->vars = new->globals = new->lastings = 0;
    return new;
}

/* Stubs belong to no unit. */
static bool is_stub(const struct source_mod *m, uint64_t addr)
{
    const char *section = source_elf_section(m, addr);
    Dwarf_Aranges *ranges;
    size_t count;

    return section && strncmp(section, ".plt", 4) == 0 && m->dwarf &&
           dwarf_getaranges(m->dwarf, &ranges, &count) == 0 && count;
}

/* The entry of the unit; false if the ranges do not tell, or it is in a file of its own. */
static bool find_unit(struct source_mod *m, uint64_t addr, Dwarf_Die *die)
{
    Dwarf_Aranges *ranges;
    Dwarf_Arange *range;
    Dwarf_Off unit;
    Dwarf_Die split;

    return m->dwarf && dwarf_getaranges(m->dwarf, &ranges, NULL) == 0 &&
           (range = dwarf_getarange_addr(ranges, addr)) != NULL &&
           dwarf_getarangeinfo(range, NULL, NULL, &unit) == 0 &&
           dwarf_offdie(m->dwarf, unit, die) != NULL && dwarf_tag(die) == DW_TAG_compile_unit &&
           dwarf_cu_info(die->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
           !dwarf_tag(&split);
}

static struct source_mod *read_alone(struct source *s, struct source_mod *m, Dwarf_Die *die)
{
    struct source_mod *new = bare(s, m);

    source_unit_add(new, die, die);
    if (!new->unit->cxx) {
        source_rows_read(s, new);
        source_scopes_read(s, new);
    }
    return new;
}

struct source_mod *source_units_at(struct source *s, gaddr pc, uint64_t *addr)
{
    struct source_mod *m = source_module_find(s, pc, addr);
    Dwarf_Die die;
    bool stub;

    if (!m || m->read || !m->elf)
        return source_module_at(s, pc, addr);
    source_elf_debug(m);
    stub = is_stub(m, *addr);
    if (!stub && !find_unit(m, *addr, &die))
        return source_module_at(s, pc, addr);
    if (table_reserve(&m->alone))
        abort();
    struct source_alone *alone = table_find(&m->alone, stub ? 1 : dwarf_dieoffset(&die) + 1);
    if (!alone->key) {
        alone->key = stub ? 1 : dwarf_dieoffset(&die) + 1;
        alone->unit = stub ? bare(s, m) : read_alone(s, m, &die);
        m->alone.used++;
    }
    return stub || alone->unit->rows ? alone->unit : source_module_at(s, pc, addr);
}
