/* link.c - link the runtime and the decoder library into one image. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "engine/host/link.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/rt/types.h"

extern const uint8_t runtime_elf[], runtime_elf_end[]; /* runtime_elf.S */

/* One of the two shared objects. */
struct object {
    const char *name;
    const uint8_t *file;
    size_t size;
    uint64_t at, span; /* place and size in the image */
    const Elf64_Sym *sym;
    size_t syms;
    const char *str;
    const Elf64_Rela *rela[2];
    size_t relas[2];
};

struct linking {
    struct object obj[2];
    uint8_t *image;
    uint64_t bytes;
    uint32_t *reloc;
    size_t relocs, room;
};

static int read_dynamic(struct object *o, struct err *err)
{
    const Elf64_Ehdr *eh = (const void *)o->file;
    if (o->size < sizeof *eh || memcmp(o->file, ELFMAG, 4) || eh->e_type != ET_DYN)
        return err_set(err, "%s: not a shared object", o->name);
    const Elf64_Shdr *sh = (const void *)(o->file + eh->e_shoff);
    for (int i = 0; i < eh->e_shnum; i++) {
        if (sh[i].sh_type == SHT_DYNSYM) {
            o->sym = (const void *)(o->file + sh[i].sh_offset);
            o->syms = sh[i].sh_size / sizeof *o->sym;
            o->str = (const char *)o->file + sh[sh[i].sh_link].sh_offset;
        } else if (sh[i].sh_type == SHT_RELA && (sh[i].sh_flags & SHF_ALLOC)) {
            int k = o->rela[0] ? 1 : 0;
            o->rela[k] = (const void *)(o->file + sh[i].sh_offset);
            o->relas[k] = sh[i].sh_size / sizeof(Elf64_Rela);
        }
    }
    const Elf64_Phdr *ph = (const void *)(o->file + eh->e_phoff);
    for (int i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr + ph[i].p_memsz > o->span)
            o->span = PAGE_UP(ph[i].p_vaddr + ph[i].p_memsz);
    return 0;
}

static void load_segments(struct linking *l, const struct object *o)
{
    const Elf64_Ehdr *eh = (const void *)o->file;
    const Elf64_Phdr *ph = (const void *)(o->file + eh->e_phoff);
    for (int i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD)
            memcpy(l->image + o->at + ph[i].p_vaddr, o->file + ph[i].p_offset, ph[i].p_filesz);
}

/* Offset of a symbol in the image, 0 if neither object defines it. */
static uint64_t find_symbol(const struct linking *l, const char *name)
{
    for (int k = 0; k < 2; k++) {
        const struct object *o = &l->obj[k];
        for (size_t i = 0; i < o->syms; i++)
            if (o->sym[i].st_shndx != SHN_UNDEF && !strcmp(o->str + o->sym[i].st_name, name))
                return o->at + o->sym[i].st_value;
    }
    return 0;
}

static int note_reloc(struct linking *l, uint64_t where)
{
    if (l->relocs == l->room) {
        l->room = l->room ? 2 * l->room : 4096;
        l->reloc = realloc(l->reloc, l->room * sizeof *l->reloc);
    }
    l->reloc[l->relocs++] = (uint32_t)where;
    return 0;
}

static int relocate_one(struct linking *l, const struct object *o, const Elf64_Rela *r,
                        struct err *err)
{
    const Elf64_Sym *s = &o->sym[ELF64_R_SYM(r->r_info)];
    const char *name = o->str + s->st_name;
    uint64_t where = o->at + r->r_offset, value = 0;
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_RELATIVE:
        value = o->at + (uint64_t)r->r_addend;
        break;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
        value = s->st_shndx != SHN_UNDEF ? o->at + s->st_value : find_symbol(l, name);
        if (!value && ELF64_ST_BIND(s->st_info) == STB_WEAK)
            return 0;
        if (!value)
            return err_set(err, "%s: undefined symbol %s", o->name, name);
        value += ELF64_R_TYPE(r->r_info) == R_X86_64_64 ? (uint64_t)r->r_addend : 0;
        break;
    default:
        return err_set(err, "%s: relocation type %lu", o->name,
                       (unsigned long)ELF64_R_TYPE(r->r_info));
    }
    memcpy(l->image + where, &value, 8);
    return note_reloc(l, where);
}

static int relocate(struct linking *l, struct err *err)
{
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++)
            for (size_t i = 0; i < l->obj[k].relas[j]; i++)
                if (relocate_one(l, &l->obj[k], &l->obj[k].rela[j][i], err) < 0)
                    return -1;
    return 0;
}

static int map_decoder(struct object *o, struct err *err)
{
    static char path[4096];
    struct link_map *map;
    struct stat st;
    void *h = dlopen(ZYDIS_SONAME, RTLD_LAZY);
    if (!h || dlinfo(h, RTLD_DI_LINKMAP, &map))
        return err_set(err, "%s", dlerror());
    snprintf(path, sizeof path, "%s", map->l_name);
    dlclose(h);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return err_set(err, "%s: %m", path);
    o->name = path;
    o->size = (size_t)st.st_size;
    o->file = mmap(NULL, o->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return o->file == MAP_FAILED ? err_set(err, "%s: %m", path) : 0;
}

static struct image *pack(const struct linking *l, struct err *err)
{
    uint64_t entry = find_symbol(l, "runtime_start"), boot = find_symbol(l, "boot");
    uint64_t bytes_at = PAGE_UP(sizeof(struct image) + l->relocs * sizeof *l->reloc);
    if (!entry || !boot) {
        err_set(err, "runtime: no entry point");
        return NULL;
    }
    struct image *im = calloc(1, bytes_at + l->bytes);
    if (!im) {
        err_set(err, "out of memory");
        return NULL;
    }
    *im = (struct image){bytes_at + l->bytes, bytes_at, l->bytes, entry, boot, l->relocs};
    memcpy(im + 1, l->reloc, l->relocs * sizeof *l->reloc);
    memcpy((uint8_t *)im + bytes_at, l->image, l->bytes);
    return im;
}

struct image *link_image(struct err *err)
{
    struct linking l = {0};
    struct image *im = NULL;
    l.obj[0] = (struct object){
        .name = "runtime", .file = runtime_elf, .size = (size_t)(runtime_elf_end - runtime_elf)};
    if (map_decoder(&l.obj[1], err) < 0)
        return NULL;
    if (read_dynamic(&l.obj[0], err) < 0 || read_dynamic(&l.obj[1], err) < 0)
        goto out;
    l.obj[1].at = l.obj[0].span;
    l.bytes = l.obj[0].span + l.obj[1].span;
    l.image = calloc(1, l.bytes);
    if (!l.image) {
        err_set(err, "out of memory");
        goto out;
    }
    load_segments(&l, &l.obj[0]);
    load_segments(&l, &l.obj[1]);
    if (relocate(&l, err) == 0)
        im = pack(&l, err);
out:
    free(l.image);
    free(l.reloc);
    munmap((void *)l.obj[1].file, l.obj[1].size);
    return im;
}

void link_free(struct image *im)
{
    free(im);
}
