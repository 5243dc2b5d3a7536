/* render_symbol.c - the symbol of an address, as GDB names it. SPDX-License-Identifier: MIT
 *
 * Names of C++ are those of its functions with their parameters, by debug information; of the
 * compiler's own variables (tables of virtual functions, type information) their simple mangled
 * names are taken apart. What is mangled further stays so.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/place.h"
#include "source/render.h"
#include "source/source_int.h"

enum { NAME = 400 };

/* `5Shape`, `L5shape` (a static one), `N5space5ShapeE`: false if it is anything else. */
static bool take_apart(const char *mangled, char *buf, size_t room)
{
    bool nested = *mangled == 'N';
    size_t used = 0;

    mangled += nested;
    buf[0] = 0;
    for (;;) {
        char *name;
        mangled += *mangled == 'L';
        if (!isdigit((unsigned char)*mangled))
            break;
        size_t length = strtoul(mangled, &name, 10);
        if (length > strlen(name) || used + length + 3 > room)
            return false;
        used += (size_t)snprintf(buf + used, room - used, "%s%.*s", used ? "::" : "", (int)length,
                                 name);
        mangled = name + length;
        if (!nested)
            break;
    }
    return used && strcmp(mangled, nested ? "E" : "") == 0;
}

static bool own_variable(const char *symbol, char *buf, size_t room)
{
    static const struct {
        const char *mark, *words;
    } kinds[] = {{"_ZTV", "vtable for "},
                 {"_ZTT", "VTT for "},
                 {"_ZTI", "typeinfo for "},
                 {"_ZTS", "typeinfo name for "},
                 {"_Z", ""}};
    char name[NAME];

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].mark);
        if (strncmp(symbol, kinds[i].mark, n) == 0 && take_apart(symbol + n, name, sizeof name)) {
            snprintf(buf, room, "%s%s", kinds[i].words, name);
            return true;
        }
    }
    return false;
}

/* Both are in one section of the file. */
static bool one_section(const struct source_mod *m, uint64_t a, uint64_t b)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(m->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
            a - header.sh_addr < header.sh_size)
            return b - header.sh_addr < header.sh_size;
    return false;
}

bool render_symbol(struct source *s, gaddr addr, char *buf, size_t room)
{
    uint64_t at;
    struct source_mod *m = source_module_at(s, addr, &at);
    const struct source_symbol *symbol = m ? source_symbols_at(m, at) : NULL;
    char name[NAME];

    if (!symbol || (!symbol->code && !symbol->bytes) || !one_section(m, at, symbol->addr))
        return false;
    uint64_t offset;
    const struct source_var *var =
        symbol->code ? NULL : source_place_variable(s, 0, NULL, addr, &m, &offset);
    if (var && !offset) { /* a static one of a function has another symbol */
        snprintf(buf, room, "%s", var->name);
        return true;
    }
    size_t plain = strcspn(symbol->name, "@");
    bool stub = strcmp(symbol->name + plain, "@plt") == 0;
    if (!(symbol->code && source_types_signature(s, symbol->addr + m->bias, name, sizeof name)) &&
        !own_variable(symbol->name, name, sizeof name))
        snprintf(name, sizeof name, "%.*s%s", (int)plain, symbol->name, stub ? "@plt" : "");
    if (at == symbol->addr)
        snprintf(buf, room, "%s", name);
    else
        snprintf(buf, room, "%s+%" PRIu64, name, at - symbol->addr);
    return true;
}
