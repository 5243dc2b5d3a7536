/* symbols.c - the symbols of a module: of its tables, and of PLT stubs.
 *
 * SPDX-License-Identifier: MIT
 *
 * A stub is named after the function whose slot its indirect jump reads: `abort@plt`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "source/module.h"
#include "source/names.h"
#include "source/place.h"

/* Among names of one address: sized ones, then global, weak, local ones; then the shorter name. */
static uint8_t rank_of(const GElf_Sym *sym)
{
    int bind = GELF_ST_BIND(sym->st_info);
    uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;

    return sym->st_size ? rank : rank + 4;
}

static bool wanted(const GElf_Sym *sym, const char *name)
{
    int type = GELF_ST_TYPE(sym->st_info);

    if (!name || !name[0] || sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
        return false;
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT || type == STT_NOTYPE;
}

static bool in_code(Elf *elf, const GElf_Sym *sym)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, sym->st_shndx);

    return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
}

static void read_table(struct source *s, struct source_mod *m, Elf *elf, Elf_Scn *section,
                       const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym sym;

    for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
        const char *name = elf_strptr(elf, header->sh_link, sym.st_name);
        if (wanted(&sym, name))
            *SOURCE_PUSH(m->symbol, m->symbols) =
                (struct source_symbol){source_names_add(s->names, name),
                                       sym.st_value,
                                       sym.st_size,
                                       rank_of(&sym),
                                       in_code(elf, &sym),
                                       GELF_ST_BIND(sym.st_info) == STB_LOCAL,
                                       GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC};
    }
}

static void read_tables(struct source *s, struct source_mod *m, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_table(s, m, elf, section, &header);
}

/* A slot of the global offset table and whose address goes there. */
struct slot {
    uint64_t addr;
    const char *name;
};

static int by_slot(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void read_slots(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct slot **slot,
                       size_t *slots)
{
    Elf_Data *data = elf_getdata(section, NULL), *symbols = NULL;
    Elf_Scn *table = elf_getscn(elf, header->sh_link);
    GElf_Shdr names;
    GElf_Rela rela;
    GElf_Sym sym;

    if (!table || !gelf_getshdr(table, &names) || !(symbols = elf_getdata(table, NULL)))
        return;
    for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
        uint64_t type = GELF_R_TYPE(rela.r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym))
            continue;
        const char *name = elf_strptr(elf, names.sh_link, sym.st_name);
        if (name && name[0])
            *SOURCE_PUSH(*slot, *slots) = (struct slot){rela.r_offset, name};
    }
}

/* A stub is 8 or 16 bytes long and has one `jmp *slot(%rip)`. */
static void read_stubs(struct source *s, struct source_mod *m, Elf_Scn *section,
                       const GElf_Shdr *header, const struct slot *slot, size_t slots)
{
    Elf_Data *data = elf_getdata(section, NULL);
    uint64_t step = header->sh_entsize == 8 ? 8 : 16;
    char name[512];

    for (uint64_t at = 0; data && data->d_buf && at + 8 <= data->d_size; at += step) {
        const unsigned char *code = (const unsigned char *)data->d_buf + at;
        for (uint64_t i = 0; i + 6 <= step && at + i + 6 <= data->d_size; i++) {
            int32_t distance;
            if (code[i] != 0xff || code[i + 1] != 0x25)
                continue;
            memcpy(&distance, code + i + 2, sizeof distance);
            struct slot key = {header->sh_addr + at + i + 6 + (uint64_t)(int64_t)distance, NULL};
            const struct slot *found = bsearch(&key, slot, slots, sizeof key, by_slot);
            if (found) {
                snprintf(name, sizeof name, "%s@plt", found->name);
                *SOURCE_PUSH(m->symbol, m->symbols) =
                    (struct source_symbol){source_names_add(s->names, name),
                                           header->sh_addr + at,
                                           step,
                                           3,
                                           true,
                                           false,
                                           false};
            }
            break;
        }
    }
}

static void read_plt(struct source *s, struct source_mod *m)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    struct slot *slot = NULL;
    size_t slots = 0, names;

    if (elf_getshdrstrndx(m->elf, &names))
        return;
    while ((section = elf_nextscn(m->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            read_slots(m->elf, section, &header, &slot, &slots);
    if (slots)
        qsort(slot, slots, sizeof *slot, by_slot);
    while (slots && (section = elf_nextscn(m->elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(m->elf, names, header.sh_name) : NULL;
        if (name && strncmp(name, ".plt", 4) == 0 && header.sh_type == SHT_PROGBITS)
            read_stubs(s, m, section, &header, slot, slots);
    }
    free(slot);
}

static int by_address(const void *a, const void *b)
{
    const struct source_symbol *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (strlen(x->name) != strlen(y->name))
        return strlen(x->name) < strlen(y->name) ? -1 : 1;
    return strcmp(x->name, y->name);
}

static uint64_t end_of_section(Elf *elf, uint64_t addr)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
            addr - header.sh_addr < header.sh_size)
            return header.sh_addr + header.sh_size;
    return 0;
}

/* Linkers put a static program's C library behind the program's own code; it begins with what calls
 * main. Where main is behind that, somebody has changed the order. */
static void find_libc(struct source_mod *m)
{
    uint64_t first = UINT64_MAX, own = 0;

    for (size_t i = 0; m->elf && m->executable && i < m->symbols; i++) {
        const struct source_symbol *symbol = &m->symbol[i];
        if (!symbol->code)
            continue;
        if (strcmp(symbol->name, "main") == 0)
            own = symbol->addr;
        if (symbol->addr < first && (strcmp(symbol->name, "__libc_start_main") == 0 ||
                                     strcmp(symbol->name, "__libc_start_call_main") == 0))
            first = symbol->addr;
    }
    if (first == UINT64_MAX || own > first)
        return;
    m->libc_low = first;
    m->libc_high = end_of_section(m->elf, first);
}

void source_symbols_read(struct source *s, struct source_mod *m)
{
    size_t kept = 0;

    if (m->elf) {
        read_tables(s, m, m->elf);
        read_plt(s, m);
    }
    if (m->debug_elf)
        read_tables(s, m, m->debug_elf);
    if (!m->symbols)
        return;
    qsort(m->symbol, m->symbols, sizeof *m->symbol, by_address);
    for (size_t i = 0; i < m->symbols; i++)
        if (!kept || m->symbol[kept - 1].addr != m->symbol[i].addr ||
            m->symbol[kept - 1].name != m->symbol[i].name)
            m->symbol[kept++] = m->symbol[i];
    m->symbols = kept;
    find_libc(m);
}

void source_symbols_all(struct source *s, struct source_mod *m)
{
    if (m->all_symbols || !m->elf)
        return;
    m->all_symbols = true;
    source_elf_find_debug(m);
    free(m->symbol); /* what functions.c read was not all */
    m->symbol = NULL;
    m->symbols = 0;
    source_symbols_read(s, m);
}

/* A symbol without a size reaches to the next one. */
const struct source_symbol *source_symbols_at(const struct source_mod *m, uint64_t addr)
{
    size_t next = search_upto(m->symbol, m->symbols, addr, addr);

    /* A small one may lie inside a large one: entry points in the middle of functions. */
    for (size_t i = next, tried = 0; i-- > 0 && tried < 32; tried++) {
        const struct source_symbol *symbol = &m->symbol[i];
        if (symbol->bytes && addr - symbol->addr >= symbol->bytes)
            continue;
        while (symbol > m->symbol && symbol[-1].addr == symbol->addr)
            symbol--;
        return symbol;
    }
    return NULL;
}

void source_symbols_each(struct source *s, void (*fn)(void *arg, const char *name, gaddr pc),
                         void *arg)
{
    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        source_symbols_all(s, m);
        for (size_t k = 0; k < m->symbols; k++)
            if (m->symbol[k].code)
                fn(arg, m->symbol[k].name, m->symbol[k].addr + m->bias);
    }
}

const struct source_symbol *source_symbols_data(const struct source_mod *m, const char *name,
                                                bool local)
{
    for (size_t i = 0; i < m->symbols; i++) {
        const struct source_symbol *symbol = &m->symbol[i];
        if (!symbol->code && symbol->bytes && symbol->local == local &&
            strcmp(symbol->name, name) == 0)
            return symbol;
    }
    return NULL;
}
