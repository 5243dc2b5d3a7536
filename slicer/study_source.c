/* study_source.c - the modules of a recorded process, for source.h.
 *
 * SPDX-License-Identifier: MIT
 *
 * A module's file is taken from this machine if its build-id says that it is the same, which costs
 * nothing until it is looked at; else from the pinball. Debug files and sources that were packed
 * with the pinball are laid out in a temporary folder.
 */
#define _GNU_SOURCE /* asprintf */
#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "slicer/study_private.h"

enum { MODULE_MAX_BYTES = 1 << 30, MAPPINGS = 64 };

/* ---- files of the pinball, laid out ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

static bool make_folder(struct study *s)
{
    const char *tmp = getenv("TMPDIR");
    if (s->own->folder)
        return true;
    if (asprintf(&s->own->folder, "%s/drdebug.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
        s->own->folder = NULL;
    else if (!mkdtemp(s->own->folder)) {
        free(s->own->folder);
        s->own->folder = NULL;
    }
    return s->own->folder != NULL;
}

/* The folders that a path needs. Names come from the pinball: none may lead out. */
static bool make_way(char *path, size_t from)
{
    if (strstr(path + from, "/../") || strstr(path + from, "/./"))
        return false;
    for (char *p = path + from + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(path, 0700);
            *p = '/';
        }
    return true;
}

/* Writes a kept file below the folder. NULL: not possible. To be freed. */
static char *lay_out(struct study *s, const struct kept_file *f, const char *name)
{
    struct err err;
    char *path = NULL;
    uint8_t *data = NULL;
    if (f->size > MODULE_MAX_BYTES || !make_folder(s) ||
        asprintf(&path, "%s/%s", s->own->folder, name) < 0)
        return NULL;
    data = malloc(f->size + 1);
    bool ok = data && make_way(path, strlen(s->own->folder)) &&
              !pinball_file_read(s->pinball, f->number, 0, data, f->size, &err);
    int fd = ok ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    ok = fd >= 0 && write(fd, data, f->size) == (ssize_t)f->size;
    if (fd >= 0)
        close(fd);
    free(data);
    if (ok)
        return path;
    free(path);
    return NULL;
}

static void lay_out_sources(struct study *s)
{
    bool any = false;
    for (uint32_t i = 0; i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        if (f->kind != KEPT_SOURCE)
            continue;
        char *path = lay_out(s, f, f->path[0] == '/' ? f->path + 1 : f->path);
        any = any || path;
        free(path);
    }
    if (any)
        source_add_folder(s->source, s->own->folder);
}

static char *lay_out_debug(struct study *s, const char *build_id)
{
    for (uint32_t i = 0; build_id && i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        if (f->kind == KEPT_DEBUG && f->build_id && strcmp(f->build_id, build_id) == 0) {
            char name[BUILD_ID_HEX + 16];
            snprintf(name, sizeof name, "%s.debug", build_id);
            return lay_out(s, f, name);
        }
    }
    return NULL;
}

/* ---- modules ---- */

static bool is_here(const struct kept_file *f)
{
    char build_id[BUILD_ID_HEX] = "";
    struct stat st;
    if (!f->build_id)
        return false;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == f->size)
        kept_build_id(fd, build_id);
    close(fd);
    return strcmp(build_id, f->build_id) == 0;
}

static void *from_pinball(struct study *s, const struct kept_file *f)
{
    struct err err;
    void **list = realloc(s->own->contents, sizeof *list * (s->own->contents_count + 1));
    if (!list || f->size > MODULE_MAX_BYTES)
        return NULL;
    s->own->contents = list;
    void *data = malloc(f->size + 1);
    if (!data || pinball_file_read(s->pinball, f->number, 0, data, f->size, &err)) {
        free(data);
        return NULL;
    }
    return list[s->own->contents_count++] = data;
}

/* Where the file's data lie: they were recorded as plain memory, and what is zero at first is of no
 * file. The program headers say. */
static void add_data(struct study *s, const struct kept_file *f, struct source_mapping *mapping,
                     size_t *mappings)
{
    Elf64_Ehdr e;
    Elf64_Phdr p;
    struct err err;
    if (pinball_file_read(s->pinball, f->number, 0, &e, sizeof e, &err) ||
        memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_phentsize != sizeof p)
        return;
    gaddr base = 0; /* of offset 0 */
    for (size_t i = 0; i < *mappings; i++)
        base = mapping[i].offset == 0 ? mapping[i].start : base;
    for (unsigned i = 0; base && i < e.e_phnum && *mappings < MAPPINGS; i++) {
        if (pinball_file_read(s->pinball, f->number, e.e_phoff + i * sizeof p, &p, sizeof p, &err))
            return;
        if (p.p_type != PT_LOAD || !(p.p_flags & PF_W))
            continue;
        gaddr first = e.e_type == ET_EXEC ? 0 : base;
        struct source_mapping m = {(first + p.p_vaddr) & ~0xfffull,
                                   (first + p.p_vaddr + p.p_memsz + 0xfff) & ~0xfffull,
                                   p.p_offset & ~0xfffull};
        for (size_t k = 0; k < *mappings; k++)
            if (mapping[k].start <= m.start && m.start < mapping[k].end) {
                m.offset += mapping[k].end - m.start;
                m.start = mapping[k].end;
            }
        if (m.start < m.end)
            mapping[(*mappings)++] = m;
    }
}

/* One file may have been kept several times, once for each mapping. */
static bool same_file(const struct kept_file *a, const struct kept_file *b)
{
    return a->kind == KEPT_MAPPED && b->kind == KEPT_MAPPED && a->size == b->size &&
           strcmp(a->path, b->path) == 0 && !a->build_id == !b->build_id &&
           (!a->build_id || strcmp(a->build_id, b->build_id) == 0);
}

static bool was_added(const struct study *s, const struct kept_file *f)
{
    for (uint32_t i = 0; i < f->number; i++)
        if (same_file(pinball_file(s->pinball, i), f))
            return true;
    return false;
}

static int add_module(struct study *s, const struct kept_file *f, struct err *err)
{
    struct source_mapping mapping[MAPPINGS];
    const struct trace_map *map;
    size_t maps = trace_maps(s->trace, &map);
    struct source_module m = {.path = f->path, .mapping = mapping};
    bool code = false;
    for (size_t i = 0; i < maps && m.mappings < MAPPINGS; i++)
        if (map[i].file >= 0 && (uint32_t)map[i].file < pinball_files(s->pinball) &&
            same_file(pinball_file(s->pinball, (uint32_t)map[i].file), f)) {
            mapping[m.mappings++] =
                (struct source_mapping){map[i].start, map[i].end, map[i].offset};
            code = code || (map[i].prot & 4);
        }
    if (!code) /* data that a program maps has no lines */
        return 0;
    add_data(s, f, mapping, &m.mappings);
    if (is_here(f))
        m.file = f->path;
    else if ((m.bytes = from_pinball(s, f)))
        m.size = f->size;
    char *debug = lay_out_debug(s, f->build_id);
    m.debug = debug;
    int bad = source_add(s->source, &m, err);
    free(debug);
    return bad;
}

int study_source_open(struct study *s, struct err *err)
{
    s->source = source_new();
    if (!s->source)
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        if (f->kind == KEPT_MAPPED && !was_added(s, f) && add_module(s, f, err))
            return -1;
    }
    lay_out_sources(s);
    return 0;
}

void study_source_close(struct study *s)
{
    source_free(s->source);
    for (size_t i = 0; i < s->own->contents_count; i++)
        free(s->own->contents[i]);
    free(s->own->contents);
    if (s->own->folder)
        nftw(s->own->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(s->own->folder);
    free(s->own->known);
    free(s->own->readable);
}

/* ---- lines ---- */

static bool system_library(const char *module)
{
    return strncmp(module, "/lib", 4) == 0 || strncmp(module, "/usr/lib", 8) == 0;
}

/* Is there text of the file? Names are there once, so their addresses are compared. */
static bool has_text(struct study *s, const char *file, uint32_t line)
{
    struct study_private *own = s->own;
    for (size_t i = own->files; i-- > 0;)
        if (own->known[i] == file)
            return own->readable[i];
    bool readable = source_text(s->source, file, line) != NULL;
    const char **known = realloc(own->known, sizeof *known * (own->files + 1));
    if (known)
        own->known = known;
    bool *flags = realloc(own->readable, sizeof *flags * (own->files + 1));
    if (flags)
        own->readable = flags;
    if (known && flags) {
        known[own->files] = file;
        flags[own->files++] = readable;
    }
    return readable;
}

bool study_line(struct study *s, gaddr pc, struct source_line *out)
{
    return source_line(s->source, pc, out) &&
           (!system_library(out->module) || has_text(s, out->file, out->line));
}

bool study_own(struct study *s, gaddr pc, struct source_line *out)
{
    return study_line(s, pc, out) || (out->module && !out->lines && !system_library(out->module));
}

bool study_text_changed(struct study *s, const char *file)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/head", pinball_path(s->pinball));
    return !pinball_packed(s->pinball) && stat(path, &st) == 0 &&
           source_text_newer(s->source, file, st.st_mtime);
}
