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
    uint64_t at, span;                /* place and size in the image */
    struct image_part constant, data; /* `at` is relative to the object, `from` in the file */
    const Elf64_Sym *sym;
    size_t syms;
    const char *str;
    const Elf64_Rela *rela[2];
    size_t relas[2];
};

struct linking {
    struct object obj[2];
    struct image *image;
    size_t relocs;
};

/* A part reaches from its first section to its last. The parts that only a dynamic linker reads lie
 * in front of the constant part. */
static int note_section(struct object *o, const Elf64_Shdr *sh, struct err *err)
{
    struct image_part *p = sh->sh_flags & SHF_WRITE ? &o->data : &o->constant;
    if (!p->bytes) {
        p->at = sh->sh_addr;
        p->from = o->file + sh->sh_offset;
    }
    p->bytes = sh->sh_addr + sh->sh_size - p->at;
    if (p->from + (sh->sh_addr - p->at) != o->file + sh->sh_offset)
        return err_set(err, "%s: its file is laid out unlike its memory", o->name);
    return 0;
}

static int read_dynamic(struct object *o, struct err *err)
{
    const Elf64_Ehdr *eh = (const void *)o->file;
    if (o->size < sizeof *eh || memcmp(o->file, ELFMAG, 4) || eh->e_type != ET_DYN)
        return err_set(err, "%s: not a shared object", o->name);
    const Elf64_Shdr *sh = (const void *)(o->file + eh->e_shoff);
    for (int i = 0; i < eh->e_shnum; i++) {
        if (!(sh[i].sh_flags & SHF_ALLOC))
            continue;
        if (sh[i].sh_type == SHT_DYNSYM) {
            o->sym = (const void *)(o->file + sh[i].sh_offset);
            o->syms = sh[i].sh_size / sizeof *o->sym;
            o->str = (const char *)o->file + sh[sh[i].sh_link].sh_offset;
        } else if (sh[i].sh_type == SHT_RELA) {
            int k = o->rela[0] ? 1 : 0;
            o->rela[k] = (const void *)(o->file + sh[i].sh_offset);
            o->relas[k] = sh[i].sh_size / sizeof(Elf64_Rela);
        } else if (sh[i].sh_type == SHT_PROGBITS || (sh[i].sh_flags & SHF_WRITE)) {
            if (sh[i].sh_type != SHT_NOBITS && note_section(o, &sh[i], err) < 0)
                return -1;
            o->span = PAGE_UP(sh[i].sh_addr + sh[i].sh_size);
        }
    }
    return 0;
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

/* Stores a word that wants the base added. */
static int put_reloc(struct linking *l, const struct object *o, uint64_t offset, uint64_t value,
                     struct err *err)
{
    struct image_part *p = &l->image->part[2 * (o - l->obj) + 1];
    if (offset < o->data.at || offset + 8 > o->data.at + o->data.bytes)
        return err_set(err, "%s: a relocation in constant bytes", o->name);
    memcpy((uint8_t *)p->from + (offset - o->data.at), &value, 8);
    l->image->reloc[l->relocs++] = (uint32_t)(o->at + offset);
    return 0;
}

static int relocate_one(struct linking *l, const struct object *o, const Elf64_Rela *r,
                        struct err *err)
{
    const Elf64_Sym *s = &o->sym[ELF64_R_SYM(r->r_info)];
    const char *name = o->str + s->st_name;
    uint64_t value = 0;
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
    return put_reloc(l, o, r->r_offset, value, err);
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

static int map_file(struct object *o, struct err *err)
{
    struct stat st;
    int fd = open(o->name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return err_set(err, "%s: %m", o->name);
    o->size = (size_t)st.st_size;
    o->file = mmap(NULL, o->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    return o->file == MAP_FAILED ? err_set(err, "%s: %m", o->name) : 0;
}

/* Where the build found the library, else where the loader does. It stays mapped: images refer to
 * it. */
static int map_decoder(struct object *o, struct err *err)
{
    static char path[4096];
    static struct object mapped;
    struct link_map *map;
    if (mapped.file) {
        *o = mapped;
        return 0;
    }
    mapped.name = ZYDIS_PATH;
    if (access(ZYDIS_PATH, R_OK)) {
        void *h = dlopen(ZYDIS_SONAME, RTLD_LAZY);
        if (!h || dlinfo(h, RTLD_DI_LINKMAP, &map))
            return err_set(err, "%s", dlerror());
        snprintf(path, sizeof path, "%s", map->l_name);
        dlclose(h);
        mapped.name = path;
    }
    if (map_file(&mapped, err)) {
        mapped.file = NULL;
        return -1;
    }
    *o = mapped;
    return 0;
}

/* struct image, with room for all relocations and the first contents of the data. */
static struct image *make_image(const struct linking *l, struct err *err)
{
    const struct object *o = l->obj;
    size_t relocs = o[0].relas[0] + o[0].relas[1] + o[1].relas[0] + o[1].relas[1];
    uint64_t data_at = (sizeof(struct image) + relocs * sizeof(uint32_t) + 15) & ~15ull;
    uint64_t total = data_at + o[0].data.bytes + o[1].data.bytes;
    struct image *im = calloc(1, total);
    if (!im) {
        err_set(err, "out of memory");
        return NULL;
    }
    im->total = total;
    im->image_bytes = o[0].span + o[1].span;
    uint8_t *data = (uint8_t *)im + data_at;
    for (int k = 0; k < 2; k++) {
        struct image_part *p = &im->part[2 * k];
        p[0] = o[k].constant;
        p[1] = o[k].data;
        p[0].at += o[k].at;
        p[1].at += o[k].at;
        p[1].written = 1;
        p[1].from = memcpy(data, o[k].data.from, o[k].data.bytes);
        data += o[k].data.bytes;
    }
    return im;
}

struct image *link_image(struct err *err)
{
    struct linking l = {0};
    l.obj[0] = (struct object){
        .name = "runtime", .file = runtime_elf, .size = (size_t)(runtime_elf_end - runtime_elf)};
    if (map_decoder(&l.obj[1], err) < 0 || read_dynamic(&l.obj[0], err) < 0 ||
        read_dynamic(&l.obj[1], err) < 0)
        return NULL;
    l.obj[1].at = l.obj[0].span;
    l.image = make_image(&l, err);
    if (!l.image)
        return NULL;
    if (relocate(&l, err) < 0)
        goto fail;
    l.image->reloc_count = l.relocs;
    l.image->entry = find_symbol(&l, "runtime_start");
    l.image->boot = find_symbol(&l, "boot");
    if (l.image->entry && l.image->boot)
        return l.image;
    err_set(err, "runtime: no entry point");
fail:
    link_free(l.image);
    return NULL;
}

void link_free(struct image *im)
{
    free(im);
}
