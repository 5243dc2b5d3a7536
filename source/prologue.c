/* prologue.c - where GDB 13 stops in a function whose entry it was told.
 *
 * SPDX-License-Identifier: MIT
 *
 * What can be observed of GDB on x86-64:
 * 1. A unit of gcc that has location lists: at the entry, since variables can be found there.
 * 2. clang's code: at the row that says that the prologue ends, if it is of the file of the entry.
 *    It is not where the body begins with something inlined from a header.
 * 3. Other code: past `push %rbp; mov %rsp,%rbp` if it begins so, and from there on at the next
 * row. Without them at the entry.
 */
#include <string.h>

#include "base/search.h"
#include "source/module.h"
#include "source/source_int.h"

/* The function at an address, by debug information or by symbols. */
struct function {
    uint64_t entry, end;
    int32_t scope;
};

static bool function_at(const struct source_mod *m, uint64_t addr, struct function *f)
{
    uint64_t low, high;

    f->scope = source_scopes_function(m, source_scopes_at(m, addr));
    if (f->scope != SOURCE_NONE) {
        f->entry = m->scope[f->scope].entry;
        if (!source_scopes_range(m, f->scope, f->entry, &low, &high))
            return false;
        f->end = high;
        return true;
    }
    const struct source_symbol *symbol = source_symbols_at(m, addr);
    if (!symbol || !symbol->code)
        return false;
    f->entry = symbol->addr;
    f->end = symbol->addr + (symbol->bytes ? symbol->bytes : 1);
    return true;
}

/* Rule 2. 0 if the rows do not tell. */
static uint64_t skip_by_rows(const struct source_mod *m, const struct function *f)
{
    const struct source_row *first = source_rows_at(m, f->entry);
    const struct source_unit *unit = &m->unit[m->scope[f->scope].unit];

    for (size_t t = 0; first && t < unit->tables; t++) {
        const struct source_table *table = &unit->table[t];
        if (table->file != first->file)
            continue;
        size_t i = search_below(table->row, table->rows, addr, f->entry);
        /* GDB takes the end itself for a part of the function, and so the body of the next one. */
        for (; i < table->rows && table->row[i].addr <= f->end; i++)
            if (table->row[i].body && table->row[i].line)
                return table->row[i].addr;
    }
    return 0;
}

/* The length of what aligns the stack: lea 8(%rsp),%reg; and $n,%rsp; push -8(%reg). 0 if the code
 * does not begin so. */
static size_t alignment(const unsigned char *code)
{
    unsigned reg = code[2] >> 3 & 7;
    size_t at = 5;

    if ((code[0] & ~4) != 0x48 || code[1] != 0x8d || (code[2] & ~0x38) != 0x44 || code[3] != 0x24 ||
        code[4] != 8)
        return 0;
    if (code[at] != 0x48 || (code[at + 1] != 0x83 && code[at + 1] != 0x81) || code[at + 2] != 0xe4)
        return 0;
    at += code[at + 1] == 0x83 ? 4 : 7;
    if (code[0] & 4 && code[at++] != 0x41)
        return 0;
    return code[at] == 0xff && code[at + 1] == (0x70 | reg) && code[at + 2] == 0xf8 ? at + 3 : 0;
}

/* Rule 3. */
static uint64_t skip_by_code(const struct source_mod *m, uint64_t entry)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    /* The two ways to write mov %rsp,%rbp. */
    static const unsigned char mov[][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};
    unsigned char code[48] = {0};
    size_t at;

    source_elf_bytes(m, entry, code, sizeof code);
    at = alignment(code); /* GDB does not know it behind endbr64 */
    if (memcmp(code + at, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    if (code[at] == 0x40 && code[at + 1] == 0x55) /* push %rbp with an empty prefix */
        at++;
    if (code[at++] != 0x55)
        return entry;
    for (size_t i = 0; i < ARRAY_LEN(mov); i++)
        if (memcmp(code + at, mov[i], sizeof mov[i]) == 0)
            return entry + at + sizeof mov[i];
    return entry;
}

static uint64_t skip_function(const struct source_mod *m, const struct function *f)
{
    const struct source_unit *unit =
        f->scope == SOURCE_NONE ? NULL : &m->unit[m->scope[f->scope].unit];

    if (unit && unit->gcc && unit->loclists)
        return f->entry;
    uint64_t to = 0;
    if (unit && unit->llvm)
        to = skip_by_rows(m, f);
    if (!to)
        to = skip_by_code(m, f->entry);
    const struct source_row *row = source_rows_at(m, to);
    if (row && row->addr != to && source_rows_end(m, row) < f->end)
        to = source_rows_end(m, row);
    return to;
}

uint64_t source_prologue_skip(const struct source_mod *m, uint64_t addr)
{
    struct function f;

    if (!function_at(m, addr, &f))
        return addr;
    uint64_t to = skip_function(m, &f);
    return addr > to ? addr : to;
}
