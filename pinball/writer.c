/* writer.c - write a pinball while the program runs: head, events, end.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "pinball/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "pinball/piece.h"
#include "pinball/writer_private.h"

/* Levels of zstd. A log of small records is system calls one after the other, half of it hashes:
 * level 1 takes half as long again for the same size. Data are worth it. */
enum { EVENTS_LEVEL = 1, SMALL_EVENTS_LEVEL = -3, SMALL_RECORD_BYTES = 128 };

enum { END_ROOM = 4096 }; /* its text has some 200 bytes */

static const char end_temporary[] = "end.new";

static int fail(const struct writer *w, const char *name, struct err *err)
{
    int error = errno;

    return err_set_code(err, error, "%s%s%s: %s", w->path, *name ? "/" : "", name,
                        beneath_error(error));
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static int open_log(struct writer *w, struct chunk_file *file, const char *name, struct err *err)
{
    file->fd = beneath_open(w->dir, name, O_RDWR);
    if (file->fd < 0 && errno == ENOENT)
        file->fd = beneath_create(w->dir, name);
    return file->fd < 0 ? fail(w, name, err) : 0;
}

static struct writer *make_writer(const char *dir, struct err *err)
{
    struct writer *w = calloc(1, sizeof *w);

    if (!w || !(w->path = strdup(dir))) {
        free(w);
        err_set_code(err, ENOMEM, "%s: no memory", dir);
        return NULL;
    }
    w->dir = w->files = w->events.fd = w->index.fd = w->end = -1;
    snprintf(w->events_label, sizeof w->events_label, "%s/events", dir);
    snprintf(w->index_label, sizeof w->index_label, "%s/index", dir);
    snprintf(w->files_label, sizeof w->files_label, "%s/files", dir);
    w->events.label = w->events_label;
    w->index.label = w->index_label;
    return w;
}

/* For a directory that exists. */
static struct writer *open_writer(const char *dir, struct err *err)
{
    struct writer *w = make_writer(dir, err);

    if (!w)
        return NULL;
    w->dir = beneath_folder(dir);
    if (w->dir < 0) {
        fail(w, "", err);
        goto fail;
    }
    if (mkdirat(w->dir, "files", 0777) && errno != EEXIST) {
        fail(w, "files", err);
        goto fail;
    }
    w->files = beneath_open(w->dir, "files", O_RDONLY | O_DIRECTORY);
    if (w->files < 0) {
        fail(w, "files", err);
        goto fail;
    }
    if (open_log(w, &w->events, "events", err) || open_log(w, &w->index, "index", err))
        goto fail;
    return w;
fail:
    writer_free(w);
    return NULL;
}

/* Room for `end`, in the file that will be it: when the disk is full, what was recorded until then
 * can still be closed properly. */
static int reserve_end(struct writer *w, struct err *err)
{
    int fd = beneath_create(w->dir, end_temporary);

    if (fd < 0)
        return fail(w, "end", err);
    int error = posix_fallocate(fd, 0, END_ROOM);
    close(fd);
    errno = error;
    return error ? fail(w, "end", err) : 0;
}

/* A folder of ours with all that is in it. */
static void remove_folder(int dir, const char *name)
{
    int fd = beneath_open(dir, name, O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlinkat(fd, e->d_name, 0);
    if (d)
        closedir(d);
    else
        close_fd(fd);
    unlinkat(dir, name, AT_REMOVEDIR);
}

void writer_remove(const char *dir)
{
    static const char *const name[] = {"ring",   "head", "events",     "index",
                                       "extras", "end",  end_temporary};
    static const char *const folder[] = {"files", "debug", "sources", "slices"};
    int fd = beneath_folder(dir);

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        unlinkat(fd, name[i], 0);
    for (size_t i = 0; i < sizeof folder / sizeof folder[0]; i++)
        remove_folder(fd, folder[i]);
    close_fd(fd);
    rmdir(dir);
}

struct writer *writer_new(const char *dir, struct err *err)
{
    if (mkdir(dir, 0777)) {
        err_set_code(err, errno, "%s: %s", dir, strerror(errno));
        return NULL;
    }
    struct writer *w = open_writer(dir, err);
    if (w && reserve_end(w, err)) {
        writer_free(w);
        w = NULL;
    }
    if (!w)
        writer_remove(dir);
    return w;
}

void writer_undo(struct writer *writer)
{
    writer_remove(writer->path);
}

struct writer *writer_resume(const char *dir, const struct writer_resume *at, struct err *err)
{
    struct writer *w = open_writer(dir, err);

    if (!w)
        return NULL;
    w->chunks = at->chunks;
    w->events.bytes = at->events_bytes;
    w->entries = at->entries;
    w->index.bytes = at->index_bytes;
    if (ftruncate(w->events.fd, (off_t)w->events.bytes) ||
        ftruncate(w->index.fd, (off_t)w->index.bytes)) {
        fail(w, "", err);
        writer_free(w);
        return NULL;
    }
    return w;
}

/* A file of memory that begins with `bytes` of a descriptor. */
static int copy_to_memory(struct writer *w, struct chunk_file *file, int from, uint64_t bytes,
                          struct err *err)
{
    char data[64 << 10];

    file->fd = memfd_create("pinball", MFD_CLOEXEC);
    if (file->fd < 0)
        return fail(w, "", err);
    while (file->bytes < bytes) {
        size_t n = bytes - file->bytes < sizeof data ? bytes - file->bytes : sizeof data;
        int error = piece_read_fd(from, file->bytes, data, &n);
        if (error || n == 0)
            return err_set_code(err, error, "%s: cannot be read", file->label);
        if (chunk_append_bytes(file, data, n, err))
            return -1;
    }
    return 0;
}

struct writer *writer_resume_in_memory(const char *dir, const struct writer_resume *at, int index,
                                       struct err *err)
{
    struct writer *w = make_writer(dir, err);

    if (!w)
        return NULL;
    w->in_memory = true;
    w->chunks = at->chunks;
    w->entries = at->entries;
    if (copy_to_memory(w, &w->events, -1, 0, err) ||
        copy_to_memory(w, &w->index, index, at->index_bytes, err)) {
        writer_free(w);
        return NULL;
    }
    return w;
}

void writer_take_memory(struct writer *writer, int *events, int *index, int *end)
{
    *events = writer->events.fd;
    *index = writer->index.fd;
    *end = writer->end;
    writer->events.fd = writer->index.fd = writer->end = -1;
}

void writer_free(struct writer *writer)
{
    if (!writer)
        return;
    keep_deinit(writer);
    close_fd(writer->events.fd);
    close_fd(writer->index.fd);
    close_fd(writer->end);
    close_fd(writer->files);
    close_fd(writer->dir);
    chunk_deinit_packer(&writer->packer);
    free(writer->path);
    free(writer);
}

int writer_dir(const struct writer *writer)
{
    return writer->dir;
}

uint64_t writer_chunks(const struct writer *writer)
{
    return writer->chunks;
}

/* A file of one chunk, which is there whole or not at all. */
static int write_text(struct writer *w, const char *name, enum chunk_kind kind, const char *text,
                      size_t bytes, struct err *err)
{
    char label[sizeof w->events_label], temporary[32];
    struct chunk_file file = {.label = label};
    struct chunk_new what = {.kind = kind};

    if (!text)
        return err_set_code(err, ENOMEM, "%s/%s: no memory", w->path, name);
    snprintf(label, sizeof label, "%s/%s", w->path, name);
    snprintf(temporary, sizeof temporary, "%s.new", name);
    if (w->in_memory) {
        int bad = copy_to_memory(w, &file, -1, 0, err) ||
                  chunk_append(&file, what, text, bytes, &w->packer, err);
        w->end = file.fd;
        return bad ? -1 : 0;
    }
    /* Not always a new one: that would give away the room that was reserved. */
    file.fd = beneath_open(w->dir, temporary, O_RDWR);
    if (file.fd < 0)
        file.fd = beneath_create(w->dir, temporary);
    if (file.fd < 0)
        return fail(w, name, err);
    int bad = chunk_append(&file, what, text, bytes, &w->packer, err);
    if (!bad && ftruncate(file.fd, (off_t)file.bytes))
        bad = fail(w, name, err);
    if (close(file.fd) && !bad)
        bad = fail(w, name, err);
    if (!bad && renameat(w->dir, temporary, w->dir, name))
        bad = fail(w, name, err);
    if (bad)
        unlinkat(w->dir, temporary, 0);
    return bad;
}

int writer_head(struct writer *writer, const char *text, size_t bytes, struct err *err)
{
    struct text all = {0};

    if (text) {
        text_join(&all, text, bytes);
        if (!writer->unsealed)
            seal_head(&writer->seal, &all);
    }
    int bad = write_text(writer, "head", CHUNK_HEAD, all.data, all.bytes, err);
    text_deinit(&all);
    return bad;
}

int writer_events(struct writer *writer, const void *records, size_t bytes, uint64_t count,
                  struct err *err)
{
    bool small = bytes / SMALL_RECORD_BYTES < count;
    struct chunk_new what = {.kind = CHUNK_EVENTS,
                             .level = small ? SMALL_EVENTS_LEVEL : EVENTS_LEVEL,
                             .sequence = writer->chunks,
                             .extra = count};

    if (chunk_append(&writer->events, what, records, bytes, &writer->packer, err))
        return -1;
    writer->chunks++;
    return 0;
}

/* The counts let a reader tell a log that lost its last chunks from a whole one. A file that cannot
 * be kept is no reason to lose the log: its entry goes on to say `waiting`. */
int writer_end(struct writer *writer, const char *text, size_t bytes, struct err *err)
{
    struct text counts = {0};
    char *all;

    writer_keep_flush(writer, NULL);
    text_addf(&counts, "chunks", "%llu", (unsigned long long)writer->chunks);
    text_addf(&counts, "entries", "%llu", (unsigned long long)writer->entries);
    all = text && counts.data ? malloc(bytes + counts.bytes) : NULL;
    if (all) {
        memcpy(all, text, bytes);
        memcpy(all + bytes, counts.data, counts.bytes);
    }
    int bad = write_text(writer, "end", CHUNK_END, all, bytes + counts.bytes, err);
    free(all);
    text_deinit(&counts);
    if (!bad && !writer->in_memory && unlinkat(writer->dir, "ring", 0) && errno != ENOENT)
        bad = fail(writer, "ring", err);
    return bad;
}
