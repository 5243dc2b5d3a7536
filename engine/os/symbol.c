/* symbol.c - the name of a code address, for messages. SPDX-License-Identifier: MIT */
#include "engine/os/symbol.h"

#include <elf.h>

#include "engine/rt/maplist.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

struct place {
    gaddr start, offset;
    char path[200];
};

static bool find_place(gaddr pc, struct place *at)
{
    struct maplist list;
    struct maplist_entry e;
    char buf[512];
    bool found = false;
    if (maplist_open(&list, 0, buf, sizeof buf))
        return false;
    while (!found && maplist_next(&list, &e))
        found = pc >= e.start && pc < e.end;
    maplist_close(&list);
    if (!found)
        return false;
    at->start = e.start;
    at->offset = e.offset;
    rt_format(at->path, sizeof at->path, "%s", e.path[0] == '/' ? e.path : "");
    return true;
}

/* The function that holds file offset `off`; its start in *start. */
static const char *find_function(const uint8_t *f, uint64_t size, uint64_t off, uint64_t *start)
{
    const Elf64_Ehdr *eh = (const void *)f;
    if (size < sizeof *eh || memcmp(f, ELFMAG, 4) || eh->e_shoff + eh->e_shnum * 64ull > size ||
        eh->e_phoff + eh->e_phnum * 56ull > size)
        return NULL;
    const Elf64_Phdr *ph = (const void *)(f + eh->e_phoff);
    uint64_t vaddr = off;
    for (int i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD && off - ph[i].p_offset < ph[i].p_filesz)
            vaddr = off - ph[i].p_offset + ph[i].p_vaddr;
    const Elf64_Shdr *sh = (const void *)(f + eh->e_shoff);
    for (int i = 0; i < eh->e_shnum; i++) {
        if ((sh[i].sh_type != SHT_SYMTAB && sh[i].sh_type != SHT_DYNSYM) ||
            sh[i].sh_link >= eh->e_shnum)
            continue;
        const Elf64_Shdr *str = &sh[sh[i].sh_link];
        if (sh[i].sh_offset + sh[i].sh_size > size || str->sh_offset + str->sh_size > size)
            continue;
        const Elf64_Sym *s = (const void *)(f + sh[i].sh_offset);
        for (uint64_t k = 0; k < sh[i].sh_size / sizeof *s; k++)
            if (ELF64_ST_TYPE(s[k].st_info) == STT_FUNC && vaddr - s[k].st_value < s[k].st_size &&
                s[k].st_name < str->sh_size) {
                *start = vaddr - s[k].st_value;
                return (const char *)f + str->sh_offset + s[k].st_name;
            }
    }
    return NULL;
}

void symbol_name(gaddr pc, char *out, size_t size)
{
    struct place at = {0};
    rt_format(out, size, "?");
    if (!find_place(pc, &at) || !at.path[0])
        return;
    uint64_t off = pc - at.start + at.offset, into = 0;
    rt_format(out, size, "%s+0x%lx", at.path, off);
    long fd = sys4(__NR_openat, -100, (long)at.path, 02000000, 0);
    if (fd < 0)
        return;
    long bytes = sys3(__NR_lseek, fd, 0, 2);
    long map = sys6(__NR_mmap, 0, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    sys1(__NR_close, fd);
    if (SYS_FAILED(map))
        return;
    const char *name = find_function((const uint8_t *)map, (uint64_t)bytes, off, &into);
    if (name)
        rt_format(out, size, "%s+0x%lx (%s)", name, into, at.path);
    sys2(__NR_munmap, map, bytes);
}
