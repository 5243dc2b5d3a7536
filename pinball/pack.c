/* pack.c - make one file of a pinball, to send it elsewhere.
 *
 * SPDX-License-Identifier: MIT
 *
 * Members are copied as they are, for all of them are chunks with sums of their own. `end` comes
 * last: a file that was cut off between two members misses it.
 */
#define _GNU_SOURCE /* memfd_create, tdestroy, renameat2 */
#include "pinball/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "pinball/chunk.h"
#include "pinball/executed.h"
#include "pinball/piece.h"
#include "pinball/seal.h"
#include "pinball/sources.h"
#include "pinball/store.h"
#include "pinball/text.h"

enum { COPY_BYTES = 1 << 20, SOURCE_MAX_BYTES = 16 << 20 };

struct packing {
    struct pinball *pinball;
    const struct pack_options *options;
    struct sourcefile_places places;
    struct chunk_file out;
    uint64_t members;
    struct packer packer;
    char *room;               /* COPY_BYTES */
    void *done;               /* tree of strings: members written, sources and build-ids seen */
    struct chunk_file extras; /* in memory: becomes the member */
    uint64_t entries;         /* chunks of it */
    uint32_t number;          /* of the next kept file */
    bool *executed;           /* by number: its debug information names sources */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* 1 if the text is new, 0 if it was there. */
static int remember(struct packing *p, const char *text, struct err *err)
{
    char *copy = strdup(text);
    char **node = copy ? tsearch(copy, &p->done, by_text) : NULL;

    if (!node) {
        free(copy);
        return err_set(err, "no memory");
    }
    if (*node == copy)
        return 1;
    free(copy);
    return 0;
}

/* ---- members ---- */

/* Appends a member: its name, then the bytes of a span. */
static int add_member(struct packing *p, const char *name, const struct span *span, struct err *err)
{
    struct chunk_new what = {.kind = CHUNK_MEMBER, .sequence = p->members, .extra = span->bytes};

    if (chunk_append(&p->out, what, name, strlen(name), &p->packer, err))
        return -1;
    p->members++;
    for (uint64_t at = 0; at < span->bytes; at += COPY_BYTES) {
        size_t n = span->bytes - at < COPY_BYTES ? span->bytes - at : COPY_BYTES;
        if (chunk_pread(span, at, p->room, n, err) || chunk_append_bytes(&p->out, p->room, n, err))
            return -1;
    }
    return 0;
}

/* Copies a member of the pinball; `notes` need not be there. */
static int copy_member(struct packing *p, const char *name, struct err *err)
{
    struct member member;
    int found = store_find(pinball_store(p->pinball), name, &member, err);

    if (found <= 0)
        return found;
    int bad = add_member(p, name, &member.span, err);
    store_close_member(&member);
    return bad;
}

/* What it keeps, extras too. */
static int copy_contents(struct packing *p, struct err *err)
{
    char name[STORE_NAME_BYTES];

    for (uint32_t n = 0; n < pinball_files(p->pinball); n++) {
        const struct kept_file *f = pinball_file(p->pinball, n);
        for (size_t i = 0; i < f->ranges; i++) {
            kept_name(name, sizeof name, f->kind, f->range[i].sha256);
            int is_new = remember(p, name, err);
            if (is_new < 0 || (is_new && copy_member(p, name, err)))
                return -1;
        }
    }
    return 0;
}

/* ---- extras ---- */

static int add_entry(struct packing *p, const struct kept_file *file, struct err *err)
{
    struct chunk_new what = {.kind = CHUNK_INDEX, .sequence = p->entries};
    struct text text = {0};

    kept_text(&text, file, 0);
    seal_entry(pinball_seal(p->pinball), "extras", p->entries, &text);
    int bad = text.data ? chunk_append(&p->extras, what, text.data, text.bytes, &p->packer, err)
                        : err_set(err, "no memory");
    text_deinit(&text);
    p->entries += !bad;
    return bad;
}

/* Those of a pinball that was packed before. */
static int copy_extras(struct packing *p, struct err *err)
{
    for (uint32_t n = 0; n < pinball_files(p->pinball); n++) {
        const struct kept_file *f = pinball_file(p->pinball, n);
        if (f->kind == KEPT_MAPPED)
            continue;
        if (remember(p, f->kind == KEPT_DEBUG ? f->build_id ? f->build_id : "" : f->path, err) <
                0 ||
            add_entry(p, f, err))
            return -1;
    }
    return 0;
}

/* Adds a file of this machine: its contents, and an entry. */
static int add_extra(struct packing *p, struct kept_file *file, int fd, struct err *err)
{
    struct kept_range range = {.bytes = file->size};
    char name[STORE_NAME_BYTES];
    struct piece piece;
    int is_new = 0, bad, memory = memfd_create("piece", MFD_CLOEXEC);

    if (memory < 0)
        return err_set_code(err, errno, "%s: %s", file->path, strerror(errno));
    piece_init(&piece, memory, file->path);
    bad = piece_copy(&piece, fd, &range, &p->packer, err);
    if (!bad) {
        file->size = range.bytes;
        file->range = &range;
        file->ranges = 1;
        kept_name(name, sizeof name, file->kind, range.sha256);
        is_new = remember(p, name, err);
        bad = is_new < 0;
    }
    if (is_new > 0) {
        struct span span = {.fd = memory, .bytes = piece.file.bytes, .label = file->path};
        bad = add_member(p, name, &span, err);
    }
    close(memory);
    file->number = p->number;
    if (bad || add_entry(p, file, err))
        return -1;
    p->number++;
    return 0;
}

static int add_source(void *arg, const char *path, struct err *err)
{
    struct packing *p = arg;
    struct kept_file file = {.kind = KEPT_SOURCE, .path = path};
    struct stat st;
    int is_new = remember(p, path, err);

    if (is_new <= 0)
        return is_new;
    int fd = sourcefile_open(&p->places, path, SOURCE_MAX_BYTES, &st);
    if (fd < 0)
        return 0;
    file.size = (uint64_t)st.st_size;
    int bad = add_extra(p, &file, fd, err);
    close(fd);
    return bad;
}

/* The kept file as one of this machine. */
static int extract(struct packing *p, const struct kept_file *file, struct err *err)
{
    int fd = memfd_create("kept", MFD_CLOEXEC);
    struct chunk_file out = {.fd = fd, .label = file->path};

    if (fd < 0)
        return err_set_code(err, errno, "%s: %s", file->path, strerror(errno));
    for (uint64_t at = 0; at < file->size; at += COPY_BYTES) {
        size_t n = file->size - at < COPY_BYTES ? file->size - at : COPY_BYTES;
        if (pinball_file_read(p->pinball, file->number, at, p->room, n, err) ||
            chunk_append_bytes(&out, p->room, n, err)) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

/* Its separate debug information, or -1. */
static int open_debug(struct packing *p, const struct kept_file *file, char path[PATH_MAX],
                      uint64_t *size)
{
    const char *root = p->options->debug_root ? p->options->debug_root : "/usr/lib/debug";
    struct stat st;

    if (!file->build_id || strlen(file->build_id) < 4)
        return -1;
    int n = snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%s.debug", root, file->build_id,
                     file->build_id + 2);
    int fd = n < PATH_MAX ? beneath_open_plain(path, &st) : -1;
    if (fd >= 0)
        *size = (uint64_t)st.st_size;
    return fd;
}

static int add_extras_of(struct packing *p, const struct kept_file *file, struct err *err)
{
    char path[PATH_MAX];
    struct kept_file debug = {.kind = KEPT_DEBUG, .path = path, .build_id = file->build_id};
    int bad = 0, fd = open_debug(p, file, path, &debug.size);

    if (fd >= 0 && p->options->debug) {
        bad = remember(p, file->build_id, err);
        if (bad > 0)
            bad = add_extra(p, &debug, fd, err);
    }
    const bool sources = p->options->sources && p->executed[file->number];
    if (!bad && sources && fd < 0 && file->whole && pinball_may_unpack(p->pinball, file->number)) {
        fd = extract(p, file, err);
        bad = fd < 0 ? -1 : 0;
    }
    if (!bad && sources && fd >= 0)
        bad = sources_list(fd, add_source, p, err);
    if (fd >= 0)
        close(fd);
    return bad;
}

static int add_extras(struct packing *p, struct err *err)
{
    struct span span = {.fd = p->extras.fd, .label = "extras"};

    p->number = pinball_files(p->pinball);
    p->executed = calloc((size_t)p->number + 1, sizeof *p->executed);
    if (!p->executed)
        return err_set(err, "no memory");
    if (copy_extras(p, err) || (p->options->sources && executed_find(p->pinball, p->executed, err)))
        return -1;
    for (uint32_t n = 0; n < pinball_files(p->pinball); n++) {
        const struct kept_file *f = pinball_file(p->pinball, n);
        if (f->kind == KEPT_MAPPED && add_extras_of(p, f, err))
            return -1;
    }
    span.bytes = p->extras.bytes;
    return p->entries > 0 ? add_member(p, "extras", &span, err) : 0;
}

/* ---- all of it ---- */

static int write_all(struct packing *p, struct err *err)
{
    static const char *const first[] = {"head", "events", "index", "notes"};

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (copy_member(p, first[i], err))
            return -1;
    return copy_contents(p, err) || add_extras(p, err) || copy_member(p, "end", err) ? -1 : 0;
}

static int fail(const char *out, int error, struct err *err)
{
    return err_set_code(err, error, "%s: %s", out, strerror(error));
}

/* Writes under another name; a file that is there stays. */
static int write_file(struct packing *p, const char *out, struct err *err)
{
    struct beneath_new file = {.fd = -1};
    const char *name;
    int folder = beneath_folder_of(out, &name), bad = -1;

    if (folder < 0)
        return fail(out, errno, err);
    if (beneath_exists(folder, name))
        fail(out, EEXIST, err);
    else if (beneath_begin(&file, folder, name))
        fail(out, errno, err);
    else {
        p->out = (struct chunk_file){.fd = file.fd, .label = out};
        bad = write_all(p, err);
        if (!bad && beneath_finish(&file, name, true))
            bad = fail(out, errno, err);
    }
    beneath_abandon(&file);
    close(folder);
    return bad;
}

int pack(struct pinball *pinball, const char *out, const struct pack_options *options,
         struct err *err)
{
    struct packing p = {.pinball = pinball, .options = options, .places = options->places};
    int bad = -1;

    if (pinball_in_memory(pinball))
        return err_set(err,
                       "%s: cannot be put in order where it is, and so not be packed: no room, "
                       "or no right to write there",
                       pinball_path(pinball));
    if (pinball_check(pinball, options->progress, options->arg, err))
        return -1;
    p.places.as_named = pinball_is_own(pinball);
    p.room = malloc(COPY_BYTES);
    p.extras.fd = memfd_create("extras", MFD_CLOEXEC);
    p.extras.label = "extras";
    if (!p.room || p.extras.fd < 0)
        err_set(err, "%s: no memory", out);
    else
        bad = write_file(&p, out, err);
    if (p.extras.fd >= 0)
        close(p.extras.fd);
    tdestroy(p.done, free);
    chunk_deinit_packer(&p.packer);
    free(p.room);
    free(p.executed);
    return bad;
}
