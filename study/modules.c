/* modules.c - the modules of a recorded process, for source.h.
 *
 * SPDX-License-Identifier: MIT
 *
 * A module's file is taken from this machine if its build-id says that it is the same, which costs
 * nothing until it is looked at; else from the pinball. So are debug files and sources that were
 * packed with it: all in memory, nothing is written anywhere.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "pinball/beneath.h"
#include "pinball/pinball.h"
#include "study/past.h"
#include "study/study_private.h"

enum { TEXT_MAX_BYTES = 64 << 20, MAPPINGS = 64 };

/* ---- files of the pinball ---- */

/* All of a file, with room for one more byte; NULL: not possible. In our own recording it must be
 * what was recorded, since the files that it names are read. */
static char *unpack(struct study *s, const struct kept_file *f)
{
    struct err err;
    if (!pinball_may_unpack(s->pinball, f->number) ||
        (pinball_is_own(s->pinball) && pinball_file_check(s->pinball, f->number, &err)))
        return NULL;
    char *data = malloc(f->size + 1);
    if (data && !pinball_file_read(s->pinball, f->number, 0, data, f->size, &err))
        return data;
    free(data);
    return NULL;
}

/* The same, which stays as long as the study. */
static void *hold(struct study *s, const struct kept_file *f)
{
    void *data = unpack(s, f);
    if (data && array_append(&s->own->contents, &s->own->contents_count, data)) {
        free(data);
        return NULL;
    }
    return data;
}

/* Do two paths differ in `//` and `/./` only? */
static bool same_path(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '/' && (a[1] == '/' || (a[1] == '.' && a[2] == '/')))
            a += a[1] == '/' ? 1 : 2;
        while (*b == '/' && (b[1] == '/' || (b[1] == '.' && b[2] == '/')))
            b += b[1] == '/' ? 1 : 2;
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

/* The text of a source file that was packed with the pinball. */
static char *packed_text(void *arg, const char *name, size_t *bytes)
{
    struct study *s = arg;
    for (uint32_t i = 0; i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        if (f->kind == KEPT_SOURCE && f->size <= TEXT_MAX_BYTES && same_path(f->path, name)) {
            *bytes = f->size;
            return unpack(s, f);
        }
    }
    return NULL;
}

static const struct kept_file *packed_debug(struct study *s, const char *build_id)
{
    for (uint32_t i = 0; build_id && i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        if (f->kind == KEPT_DEBUG && f->build_id && strcmp(f->build_id, build_id) == 0)
            return f;
    }
    return NULL;
}

/* ---- modules ---- */

/* A stranger's recording has files of this machine opened only where it cannot bring them along:
 * those of large programs. */
static bool is_here(const struct study *s, const struct kept_file *f)
{
    char build_id[BUILD_ID_HEX] = "";
    struct stat st;
    if (!f->build_id || (f->whole && !pinball_is_own(s->pinball)))
        return false;
    int fd = beneath_open_plain(f->path, &st);
    if (fd < 0)
        return false;
    if ((uint64_t)st.st_size == f->size)
        kept_build_id(fd, build_id);
    close(fd);
    return strcmp(build_id, f->build_id) == 0;
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

static int add_module(struct study *s, const struct kept_file *f, const struct trace_map *map,
                      size_t maps, struct err *err)
{
    struct source_mapping mapping[MAPPINGS];
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
    if (is_here(s, f))
        m.file = f->path;
    else if ((m.bytes = hold(s, f)))
        m.size = f->size;
    const struct kept_file *debug = packed_debug(s, f->build_id);
    if (debug && (m.debug = hold(s, debug)))
        m.debug_size = debug->size;
    return source_add(s->source, &m, err);
}

/* What is mapped at the end: the trace knows it, or a replay. malloc()ed. NULL with *err set. */
static struct trace_map *maps_of(struct study *s, size_t *count, struct err *err)
{
    const struct trace_map *known = NULL;
    size_t maps = s->trace ? trace_maps(s->trace, &known) : PAST_MAPS;
    struct past *end = s->trace ? NULL : study_at_end(s, err);
    if (!s->trace && !end)
        return NULL;
    struct program_map *list = end ? malloc(sizeof *list * PAST_MAPS) : NULL;
    size_t here = list ? past_maps(end, list, PAST_MAPS) : 0;
    maps = end && here < maps ? here : maps;
    struct trace_map *map = known || list ? malloc(sizeof *map * (maps + 1)) : NULL;
    if (!map)
        err_set(err, "no memory");
    for (size_t i = 0; map && i < maps; i++)
        map[i] = list ? (struct trace_map){list[i].start, list[i].end, list[i].offset, list[i].file,
                                           (uint32_t)list[i].prot}
                      : known[i];
    free(list);
    *count = maps;
    return map;
}

int study_source_open(struct study *s, struct err *err)
{
    size_t maps;
    struct trace_map *map = maps_of(s, &maps, err);
    int bad = 0;
    if (!map)
        return -1;
    s->source = source_new();
    if (!s->source) {
        free(map);
        return err_set(err, "no memory");
    }
    struct sourcefile_places places = s->own->places;
    places.as_named = pinball_is_own(s->pinball);
    source_set_places(s->source, &places);
    for (uint32_t i = 0; !bad && i < pinball_files(s->pinball); i++) {
        const struct kept_file *f = pinball_file(s->pinball, i);
        if (f->kind == KEPT_MAPPED && !was_added(s, f))
            bad = add_module(s, f, map, maps, err);
    }
    free(map);
    source_set_packed(s->source, packed_text, s);
    return bad;
}

void study_source_close(struct study *s)
{
    source_free(s->source);
    for (size_t i = 0; i < s->own->contents_count; i++)
        free(s->own->contents[i]);
    free(s->own->contents);
    free(s->own->known);
}

/* ---- lines ---- */

static bool system_library(const char *module)
{
    return strncmp(module, "/lib", 4) == 0 || strncmp(module, "/usr/lib", 8) == 0;
}

/* What a compiler or a package put there: headers, whose code is in libraries, too. */
static bool system_text(const char *file)
{
    return strncmp(file, "/usr/include/", 13) == 0 || strncmp(file, "/usr/lib/", 9) == 0;
}

/* Is there text of the file? Names are there once, so their addresses are compared. */
static bool has_text(struct study *s, const char *file, uint32_t line)
{
    struct study_private *own = s->own;
    for (size_t i = own->files; i-- > 0;)
        if (own->known[i].name == file)
            return own->known[i].readable;
    bool readable = source_text(s->source, file, line) != NULL;
    /* without memory the next question takes as long */
    (void)array_append(&own->known, &own->files, (struct study_text){file, readable});
    return readable;
}

/* What was inlined from a header of the system is where the user's code called it. */
static bool leave_header(struct study *s, gaddr pc, struct source_line *out)
{
    enum { INLINED_MOST = 64 };
    struct source_call call[INLINED_MOST];
    size_t n = source_calls(s->source, pc, call, INLINED_MOST);
    n = n < INLINED_MOST ? n : INLINED_MOST;
    for (size_t i = 0; i < n; i++) {
        if (!call[i].file || system_text(call[i].file))
            continue;
        out->file = call[i].file;
        out->line = call[i].line;
        out->column = 0;
        out->function = i + 1 < n ? call[i + 1].function : out->outer;
        out->stmt = false;
        return true;
    }
    /* an inlined call of which nothing but its lines is left */
    struct source_line begin;
    uint32_t line = 0;
    if (source_line(s->source, out->entry, &begin) && !system_text(begin.file))
        line = source_line_in(s->source, pc, out->entry, begin.file);
    if (!line)
        return false;
    out->file = begin.file;
    out->line = line;
    out->function = out->outer;
    out->stmt = false;
    return true;
}

bool study_line(struct study *s, gaddr pc, struct source_line *out)
{
    if (!source_line(s->source, pc, out) ||
        (system_text(out->file) && (system_library(out->module) || !leave_header(s, pc, out))))
        return false;
    return !system_library(out->module) || has_text(s, out->file, out->line);
}

bool study_own(struct study *s, gaddr pc, struct source_line *out)
{
    return study_line(s, pc, out) || (out->module && !out->lines && !system_library(out->module));
}

void study_place(struct study *s, gaddr pc, char *buf, size_t room)
{
    struct source_line l;
    if (!pc || !study_line(s, pc, &l)) {
        source_name(s->source, pc, buf, room);
        return;
    }
    const char *slash = strrchr(l.file, '/');
    snprintf(buf, room, "%s:%u", slash ? slash + 1 : l.file, l.line);
}

bool study_text_changed(struct study *s, const char *file)
{
    return s->own->made_s && source_text_newer(s->source, file, s->own->made_s);
}
