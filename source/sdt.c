/* sdt.c - probes of SystemTap's kind that a file has: its notes `stapsdt`.
 *
 * SPDX-License-Identifier: MIT
 *
 * A note is three addresses (place, base, semaphore) and three texts (provider, name, arguments). A
 * prelinker moves code and not notes: the section .stapsdt.base has moved with it, and the note
 * says where it was.
 */
#include "source/sdt.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

enum { NOTE_KIND = 3, WORDS = 3 };

/* The section of this name; NULL: none. */
static Elf_Scn *section(Elf *elf, const char *wanted, GElf_Shdr *header)
{
    Elf_Scn *scn = NULL;
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return NULL;
    while ((scn = elf_nextscn(elf, scn))) {
        const char *name =
            gelf_getshdr(scn, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return scn;
    }
    return NULL;
}

/* What follows the text; NULL: it does not end. */
static const char *behind(const char *text, const char *end)
{
    const char *zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
    return zero ? zero + 1 : NULL;
}

static bool take(const char *data, size_t bytes, uint64_t base, struct sdt_probe *out)
{
    uint64_t word[WORDS];
    const char *end = data + bytes, *provider = data + sizeof word;
    const char *name = bytes > sizeof word ? behind(provider, end) : NULL;
    if (!name || !behind(name, end))
        return false;
    memcpy(word, data, sizeof word);
    const uint64_t moved = base && word[1] ? base - word[1] : 0;
    *out = (struct sdt_probe){.provider = provider,
                              .name = name,
                              .pc = word[0] + moved,
                              .semaphore = word[2] ? word[2] + moved : 0};
    return true;
}

static int each_note(Elf_Data *data, uint64_t base, sdt_fn *fn, void *arg)
{
    GElf_Nhdr note;
    size_t name, desc;
    int end = 0;
    for (size_t at = 0; !end && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;) {
        struct sdt_probe probe;
        const char *bytes = data->d_buf;
        if (note.n_type == NOTE_KIND && note.n_namesz == 8 && !memcmp(bytes + name, "stapsdt", 8) &&
            take(bytes + desc, note.n_descsz, base, &probe))
            end = fn(arg, &probe);
    }
    return end;
}

int sdt_each(int fd, sdt_fn *fn, void *arg)
{
    GElf_Shdr header, base;
    int end = 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Elf_Scn *notes =
        elf && gelf_getclass(elf) == ELFCLASS64 ? section(elf, ".note.stapsdt", &header) : NULL;
    Elf_Data *data = notes ? elf_getdata(notes, NULL) : NULL;
    if (data && data->d_buf)
        end = each_note(data, section(elf, ".stapsdt.base", &base) ? base.sh_addr : 0, fn, arg);
    elf_end(elf);
    return end;
}

uint64_t sdt_bias(int fd, uint64_t start, uint64_t offset)
{
    enum { PAGE = 4096 };
    uint64_t bias = 0;
    GElf_Phdr p;
    size_t headers = 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_getphdrnum(elf, &headers))
        headers = 0;
    for (size_t i = 0; i < headers && !bias; i++)
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X) &&
            p.p_offset / PAGE * PAGE <= offset && offset < p.p_offset + p.p_filesz)
            bias = start - (p.p_vaddr + offset - p.p_offset);
    elf_end(elf);
    return bias;
}
