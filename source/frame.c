/* frame.c - call frame information.
 *
 * SPDX-License-Identifier: MIT
 *
 * libdw runs a function's program of rules up to a pc. Reading all rows of a function needs its
 * begin and end, which libdw does not tell; so this file reads the entries' addresses itself.
 */
#include "source/frame_int.h"
#include "source/module.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { REGISTERS = 17 };

/* How addresses are written: DW_EH_PE_*. */
enum { FORM = 0x0f, RELATIVE = 0x70, PC_RELATIVE = 0x10, OMITTED = 0xff };

bool source_frame_number(const uint8_t **at, const uint8_t *end, unsigned encoding, uint64_t *value)
{
    static const uint8_t size[16] = {
        [0] = 8, [2] = 2, [3] = 4, [4] = 8, [8] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
    unsigned bytes = size[encoding & FORM];

    if (encoding == OMITTED || !bytes || (size_t)(end - *at) < bytes)
        return false;
    *value = 0;
    memcpy(value, *at, bytes);
    if (encoding & 8 && bytes < 8 && *value >> (8 * bytes - 1))
        *value |= UINT64_MAX << (8 * bytes);
    *at += bytes;
    return true;
}

bool source_frame_leb(const uint8_t **at, const uint8_t *end, bool is_signed, int64_t *value)
{
    uint64_t number = 0;
    unsigned shift = 0;

    for (; *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift < 64)
            number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (is_signed && byte & 0x40 && shift + 7 < 64)
            number |= UINT64_MAX << (shift + 7);
        *value = (int64_t)number;
        return true;
    }
    return false;
}

/* The encoding of addresses in entries of this CIE. */
static unsigned encoding_of(const Dwarf_CIE *cie)
{
    const uint8_t *at = cie->augmentation_data;
    const uint8_t *end = at ? at + cie->augmentation_data_size : NULL;
    uint64_t skipped;

    if (!cie->augmentation || cie->augmentation[0] != 'z')
        return 0;
    for (const char *c = cie->augmentation + 1; *c; c++) {
        if (*c == 'S' || *c == 'B')
            continue;
        if (!at || at >= end)
            return OMITTED;
        unsigned encoding = *at++;
        if (*c == 'R')
            return encoding;
        if (*c == 'P' && !source_frame_number(&at, end, encoding, &skipped))
            return OMITTED;
    }
    return 0;
}

static void add_entry(struct source_mod *m, Elf_Data *data, const GElf_Shdr *header, bool eh,
                      const unsigned char *ident, const Dwarf_FDE *fde)
{
    Dwarf_CFI_Entry cie;
    Dwarf_Off next;
    uint64_t low, bytes;
    const uint8_t *at = fde->start;

    if (dwarf_next_cfi(ident, data, eh, fde->CIE_pointer, &next, &cie) || !dwarf_cfi_cie_p(&cie))
        return;
    unsigned encoding = eh ? encoding_of(&cie.cie) : 0;
    if (!source_frame_number(&at, fde->end, encoding, &low) ||
        !source_frame_number(&at, fde->end, encoding & FORM, &bytes))
        return;
    int64_t skipped = 0;
    if (cie.cie.augmentation && cie.cie.augmentation[0] == 'z' &&
        (!source_frame_leb(&at, fde->end, false, &skipped) || skipped < 0 ||
         skipped > fde->end - at))
        return;
    if ((encoding & RELATIVE) == PC_RELATIVE)
        low += header->sh_addr + (uint64_t)(fde->start - (const uint8_t *)data->d_buf);
    else if (encoding & RELATIVE)
        return;
    if (low < m->text_low || !bytes)
        return;
    struct source_fde *new =
        eh ? SOURCE_PUSH(m->fde, m->fdes) : SOURCE_PUSH(m->debug_fde, m->debug_fdes);
    *new = (struct source_fde){.low = low,
                               .high = low + bytes,
                               .program = at + skipped,
                               .end = fde->end,
                               .common = cie.cie.initial_instructions,
                               .com_end = cie.cie.initial_instructions_end,
                               .factor = cie.cie.data_alignment_factor,
                               .encoding = encoding};
}

static void read_section(struct source_mod *m, Elf *elf, const char *wanted)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names, size;
    const char *ident = elf_getident(elf, &size);

    if (!ident || elf_getshdrstrndx(elf, &names))
        return;
    while ((section = elf_nextscn(elf, section))) {
        Dwarf_CFI_Entry entry;
        Dwarf_Off offset = 0, next;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || strcmp(name, wanted) != 0 || header.sh_type == SHT_NOBITS)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        bool eh = wanted[1] == 'e';
        while (data && data->d_buf && offset < data->d_size) {
            int result =
                dwarf_next_cfi((const unsigned char *)ident, data, eh, offset, &next, &entry);
            if (result > 0 || next <= offset)
                break;
            if (result == 0 && !dwarf_cfi_cie_p(&entry))
                add_entry(m, data, &header, eh, (const unsigned char *)ident, &entry.fde);
            offset = next;
        }
    }
}

static int by_low(const void *a, const void *b)
{
    const struct source_fde *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}

static void read_entries(struct source_mod *m)
{
    if (m->fdes_read)
        return;
    m->fdes_read = true;
    if (!m->elf)
        return;
    m->cfi = dwarf_getcfi_elf(m->elf);
    read_section(m, m->elf, ".eh_frame");
    if (m->fdes)
        qsort(m->fde, m->fdes, sizeof *m->fde, by_low);
}

/* The second source: for code that the first one does not know, so only when it is met. */
static void read_debug_entries(struct source_mod *m)
{
    if (m->debug_fdes_read)
        return;
    m->debug_fdes_read = true;
    if (!m->elf)
        return;
    source_elf_debug(m);
    m->debug_cfi = m->dwarf ? dwarf_getcfi(m->dwarf) : NULL;
    read_section(m, m->elf, ".debug_frame");
    if (m->debug_elf)
        read_section(m, m->debug_elf, ".debug_frame");
    if (m->debug_fdes)
        qsort(m->debug_fde, m->debug_fdes, sizeof *m->debug_fde, by_low);
}

static Dwarf_Frame *frame_at(struct source_mod *m, uint64_t addr)
{
    Dwarf_Frame *frame = NULL;

    read_entries(m);
    if (m->cfi && dwarf_cfi_addrframe(m->cfi, addr, &frame) == 0)
        return frame;
    read_debug_entries(m);
    if (m->debug_cfi && dwarf_cfi_addrframe(m->debug_cfi, addr, &frame) == 0)
        return frame;
    return NULL;
}

static bool cfa_of(Dwarf_Frame *frame, struct source_cfa *out)
{
    Dwarf_Op *op;
    size_t count;

    if (dwarf_frame_cfa(frame, &op, &count) || count != 1)
        return false;
    if (op->atom == DW_OP_bregx) {
        *out = (struct source_cfa){(uint16_t)op->number, (int64_t)op->number2};
        return true;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *out = (struct source_cfa){(uint16_t)(op->atom - DW_OP_breg0), (int64_t)op->number};
        return true;
    }
    return false;
}

bool source_cfa(struct source *s, gaddr pc, struct source_cfa *out)
{
    uint64_t addr;
    struct source_mod *m = source_module_find(s, pc, &addr);
    Dwarf_Frame *frame = m ? frame_at(m, addr) : NULL;

    if (!frame)
        return false;
    bool known = cfa_of(frame, out);
    free(frame);
    return known;
}

/* The offset from the CFA at which a row has a register. */
static bool saved_at(Dwarf_Frame *frame, int reg, int64_t *offset)
{
    Dwarf_Op memory[3], *op;
    size_t count;

    if (dwarf_frame_register(frame, reg, memory, &op, &count) || !count ||
        op[0].atom != DW_OP_call_frame_cfa)
        return false;
    *offset = 0;
    if (count == 1)
        return true;
    *offset = (int64_t)op[1].number;
    return count == 2 && op[1].atom == DW_OP_plus_uconst;
}

bool source_frame_saved(struct source_mod *m, uint64_t addr, int reg, int64_t *offset)
{
    Dwarf_Frame *frame = frame_at(m, addr);
    bool saved = frame && saved_at(frame, reg, offset);

    free(frame);
    return saved;
}

bool source_saved(struct source *s, gaddr pc, unsigned reg, int64_t *offset)
{
    uint64_t addr;
    struct source_mod *m = source_module_find(s, pc, &addr);

    return m && source_frame_saved(m, addr, (int)reg, offset);
}

/* What was found so far. */
struct saves {
    struct source_save *save;
    size_t saves;
};

static void add_save(struct saves *list, int reg, int64_t offset, gaddr from)
{
    for (size_t i = 0; i < list->saves; i++)
        if (list->save[i].reg == reg && list->save[i].offset == offset)
            return;
    *SOURCE_PUSH(list->save, list->saves) = (struct source_save){(uint16_t)reg, offset, from};
}

static struct source_fde *entry_at(struct source_fde *list, size_t count, uint64_t addr)
{
    size_t next = search_upto(list, count, low, addr);

    return next && addr < list[next - 1].high ? &list[next - 1] : NULL;
}

struct source_fde *source_frame_entry(struct source_mod *m, uint64_t addr)
{
    read_entries(m);
    struct source_fde *entry = entry_at(m->fde, m->fdes, addr);
    if (entry)
        return entry;
    read_debug_entries(m);
    return entry_at(m->debug_fde, m->debug_fdes, addr);
}

size_t source_saves(struct source *s, gaddr pc, struct source_save *out, size_t room)
{
    uint64_t addr;
    struct source_mod *m = source_module_find(s, pc, &addr);
    struct saves list = {0};
    int64_t offset;

    if (!m)
        return 0;
    const struct source_fde *entry = source_frame_entry(m, addr);
    for (uint64_t at = entry ? entry->low : 0; entry && at < entry->high;) {
        Dwarf_Frame *frame = frame_at(m, at);
        Dwarf_Addr start, end = at;
        if (!frame)
            break;
        dwarf_frame_info(frame, &start, &end, NULL);
        for (int reg = 0; reg < REGISTERS; reg++)
            if (saved_at(frame, reg, &offset))
                add_save(&list, reg, offset, at + m->bias);
        free(frame);
        if (end <= at)
            break;
        at = end;
    }
    for (size_t i = 0; i < list.saves && i < room; i++)
        out[i] = list.save[i];
    free(list.save);
    return list.saves;
}
