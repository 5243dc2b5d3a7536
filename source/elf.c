/* elf.c - a module's file: its load bias, its separate debug file, its bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nothing in the file is trusted: a part that cannot be read counts as missing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "pinball/beneath.h"
#include "pinball/elfsize.h"
#include "source/module.h"
#include "source/source_int.h"

/* The mapping may be of this segment; then the bias is that. A mapping begins at a page, a segment
 * need not. */
static bool bias_from(const struct source_mapping *mapping, const GElf_Phdr *header, uint64_t *bias)
{
    if (header->p_type != PT_LOAD || mapping->offset < PAGE_DOWN(header->p_offset) ||
        mapping->offset >= header->p_offset + header->p_filesz)
        return false;
    *bias = mapping->start - mapping->offset + header->p_offset - header->p_vaddr;
    return true;
}

/* Compilers make a dozen. */
enum { HEADERS_MOST = 128 };

/* How many mappings are where a bias would put them. */
static size_t fitting(const struct source_mod *m, size_t headers, uint64_t bias)
{
    size_t count = 0;

    for (size_t k = 0; k < m->mappings; k++)
        for (size_t i = 0; i < headers; i++) {
            GElf_Phdr header;
            uint64_t other;
            if (gelf_getphdr(m->elf, (int)i, &header) &&
                bias_from(&m->mapping[k], &header, &other) && other == bias) {
                count++;
                break;
            }
        }
    return count;
}

/* Segments share pages of the file, so one mapping may not tell; the bias that fits most does. */
static void find_bias(struct source_mod *m)
{
    size_t headers = 0, best = 0;

    elf_getphdrnum(m->elf, &headers);
    if (headers > HEADERS_MOST)
        headers = HEADERS_MOST;
    if (m->fixed) {
        m->bias = 0;
        return;
    }
    for (size_t k = 0; k < m->mappings; k++)
        for (size_t i = 0; i < headers; i++) {
            GElf_Phdr header;
            uint64_t bias;
            if (!gelf_getphdr(m->elf, (int)i, &header) ||
                !bias_from(&m->mapping[k], &header, &bias) || fitting(m, headers, bias) <= best)
                continue;
            best = fitting(m, headers, bias);
            m->bias = bias;
        }
}

/* Without mappings of the caller's: one per segment. */
static void map_segments(struct source_mod *m)
{
    size_t headers = 0;
    GElf_Phdr header;

    elf_getphdrnum(m->elf, &headers);
    for (size_t i = 0; i < headers; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        uint64_t start = PAGE_DOWN(header.p_vaddr);
        *SOURCE_PUSH(m->mapping, m->mappings) = (struct source_mapping){
            m->bias + start, m->bias + PAGE_UP(header.p_vaddr + header.p_memsz),
            header.p_offset - (header.p_vaddr - start)};
    }
}

/* Zeroed data past the file's is mapped without a name, so the caller's mappings do not have it. */
static void map_zeroed(struct source_mod *m)
{
    size_t headers = 0;
    GElf_Phdr header;

    elf_getphdrnum(m->elf, &headers);
    for (size_t i = 0; i < headers; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &header) || header.p_type != PT_LOAD ||
            header.p_memsz <= header.p_filesz)
            continue;
        uint64_t start = m->bias + PAGE_UP(header.p_vaddr + header.p_filesz);
        uint64_t end = m->bias + PAGE_UP(header.p_vaddr + header.p_memsz);
        if (start < end)
            *SOURCE_PUSH(m->mapping, m->mappings) = (struct source_mapping){start, end, 0};
    }
}

/* A position-independent executable says so in its dynamic section. */
static bool is_pie(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Dyn entry;

    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getdyn(data, i, &entry); i++)
            if (entry.d_tag == DT_FLAGS_1)
                return entry.d_un.d_val & DF_1_PIE;
    }
    return false;
}

static void look_at_headers(struct source_mod *m)
{
    size_t headers = 0;
    GElf_Phdr header;
    GElf_Ehdr file;

    m->text_low = UINT64_MAX;
    elf_getphdrnum(m->elf, &headers);
    for (size_t i = 0; i < headers; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &header))
            continue;
        if (header.p_type == PT_LOAD && (header.p_flags & PF_X) && header.p_vaddr < m->text_low)
            m->text_low = header.p_vaddr;
        if (header.p_type == PT_TLS) {
            m->tls_bytes = header.p_memsz;
            m->tls_align = header.p_align ? header.p_align : 1;
        }
    }
    m->fixed = gelf_getehdr(m->elf, &file) && file.e_type == ET_EXEC;
    m->executable = m->fixed || is_pie(m->elf);
}

void source_elf_open(struct source_mod *m, const struct source_module *module)
{
    struct stat st;

    elf_version(EV_CURRENT);
    m->fd = m->debug_fd = -1;
    m->bias = module->bias;
    if (module->file) {
        m->fd = beneath_open_plain(module->file, &st);
        if (m->fd >= 0)
            m->elf = elf_begin(m->fd, ELF_C_READ_MMAP, NULL);
    } else if (module->bytes) {
        /* libelf only reads what it was given for reading, but wants it without const. */
        m->elf = elf_memory((char *)(uintptr_t)module->bytes, module->size);
    }
    if (m->elf && elf_kind(m->elf) != ELF_K_ELF) {
        elf_end(m->elf);
        m->elf = NULL;
    }
    if (!m->elf)
        return;
    look_at_headers(m);
    if (!m->mappings) {
        map_segments(m);
        return;
    }
    find_bias(m);
    map_zeroed(m);
}

void source_elf_close(struct source_mod *m)
{
    if (m->cfi)
        dwarf_cfi_end(m->cfi);
    dwarf_end(m->dwarf);
    elf_end(m->debug_elf);
    elf_end(m->elf);
    if (m->fd >= 0)
        close(m->fd);
    if (m->debug_fd >= 0)
        close(m->debug_fd);
}

bool source_elf_any(Elf *elf, bool unnamed, source_section *is, const void *arg)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(elf, &names))
        return unnamed;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name && is(name, section, &header, arg))
            return true;
    }
    return false;
}

static bool is_named(const char *name, Elf_Scn *section, const GElf_Shdr *header, const void *arg)
{
    (void)section, (void)header;
    return strcmp(name, arg) == 0;
}

static bool has_section(Elf *elf, const char *wanted)
{
    return source_elf_any(elf, false, is_named, wanted);
}

static Dwarf *begin(Elf *elf)
{
    size_t bytes = 0;
    const char *file = elf_rawfile(elf, &bytes);

    return file && elfsize_is_sane(file, bytes) ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
}

/* Where the debug information is: in a file of its own, or in the module's. */
void source_elf_find_debug(struct source_mod *m)
{
    if (m->debug_found)
        return;
    m->debug_found = true;
    if (!m->debug && !has_section(m->elf, ".debug_info"))
        m->debug_fd = source_debug_open(m);
    if (m->debug_fd >= 0)
        m->debug_elf = elf_begin(m->debug_fd, ELF_C_READ_MMAP, NULL);
    else if (m->debug)
        m->debug_elf = elf_memory((char *)(uintptr_t)m->debug, m->debug_size);
}

void source_elf_debug(struct source_mod *m)
{
    if (m->debug_begun)
        return;
    m->debug_begun = true;
    source_elf_find_debug(m);
    if (m->debug_elf)
        m->dwarf = begin(m->debug_elf);
    else if (m->elf)
        m->dwarf = begin(m->elf);
}

/* What else it is made of is in the recording. */
uint64_t source_elf_identity(struct source_mod *m)
{
    struct stat st;
    uint64_t id = hash_fold(m->bias, m->elf != NULL);
    source_elf_find_debug(m);
    for (const char *c = m->path; *c; c++)
        id = hash_fold(id, (uint8_t)*c);
    if (m->debug_fd >= 0 && !fstat(m->debug_fd, &st))
        id = hash_fold(hash_fold(id, (uint64_t)st.st_size), (uint64_t)st.st_mtime);
    return hash_fold(id, m->debug_size);
}

size_t source_elf_bytes(const struct source_mod *m, uint64_t addr, void *buf, size_t bytes)
{
    size_t headers = 0, size = 0;
    GElf_Phdr header;

    if (!m->elf || elf_getphdrnum(m->elf, &headers))
        return 0;
    const char *file = elf_rawfile(m->elf, &size);
    for (size_t i = 0; file && i < headers; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        uint64_t in = addr - header.p_vaddr;
        if (addr < header.p_vaddr || in >= header.p_filesz || header.p_offset > size ||
            in >= size - header.p_offset)
            continue;
        uint64_t left = header.p_filesz - in;
        if (left > size - header.p_offset - in)
            left = size - header.p_offset - in;
        if (bytes > left)
            bytes = (size_t)left;
        memcpy(buf, file + header.p_offset + in, bytes);
        return bytes;
    }
    return 0;
}

const char *source_elf_section(const struct source_mod *m, uint64_t addr)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (!m->elf || elf_getshdrstrndx(m->elf, &names))
        return NULL;
    while ((section = elf_nextscn(m->elf, section)))
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_ALLOC) &&
            !(header.sh_flags & SHF_TLS) && addr - header.sh_addr < header.sh_size)
            return elf_strptr(m->elf, names, header.sh_name);
    return NULL;
}
