/* writer.c - write a pinball while the program runs: head, events, end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinball/writer_private.h"

/* Levels of zstd. A log of small records is system calls one after the other, half of it hashes:
 * level 1 takes half as long again for the same size. Data are worth it. */
enum { EVENTS_LEVEL = 1, SMALL_EVENTS_LEVEL = -3, SMALL_RECORD_BYTES = 128 };

static int fail(const struct writer *w, const char *name, struct err *err)
{
    int error = errno;

    return err_set_code(err, error, "%s%s%s: %s", w->path, *name ? "/" : "", name, strerror(error));
}

static int open_log(struct writer *w, struct chunk_file *file, const char *name, struct err *err)
{
    file->fd = openat(w->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return file->fd < 0 ? fail(w, name, err) : 0;
}

/* Of a directory that is there. */
static struct writer *open_writer(const char *dir, struct err *err)
{
    struct writer *w = calloc(1, sizeof *w);

    if (!w || !(w->path = strdup(dir))) {
        free(w);
        err_set_code(err, ENOMEM, "%s: no memory", dir);
        return NULL;
    }
    w->files = w->events.fd = w->index.fd = -1;
    snprintf(w->events_label, sizeof w->events_label, "%s/events", dir);
    snprintf(w->index_label, sizeof w->index_label, "%s/index", dir);
    snprintf(w->files_label, sizeof w->files_label, "%s/files", dir);
    w->events.label = w->events_label;
    w->index.label = w->index_label;
    w->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->dir < 0) {
        fail(w, "", err);
        goto fail;
    }
    if (mkdirat(w->dir, "files", 0777) && errno != EEXIST) {
        fail(w, "files", err);
        goto fail;
    }
    w->files = openat(w->dir, "files", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
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

struct writer *writer_new(const char *dir, struct err *err)
{
    if (mkdir(dir, 0777)) {
        err_set_code(err, errno, "%s: %s", dir, strerror(errno));
        return NULL;
    }
    return open_writer(dir, err);
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

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void writer_free(struct writer *writer)
{
    if (!writer)
        return;
    keep_deinit(writer);
    close_fd(writer->events.fd);
    close_fd(writer->index.fd);
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
    file.fd =
        openat(w->dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file.fd < 0)
        return fail(w, name, err);
    int bad = chunk_append(&file, what, text, bytes, &w->packer, err);
    close(file.fd);
    if (!bad && renameat(w->dir, temporary, w->dir, name))
        bad = fail(w, name, err);
    if (bad)
        unlinkat(w->dir, temporary, 0);
    return bad;
}

int writer_head(struct writer *writer, const char *text, size_t bytes, struct err *err)
{
    return write_text(writer, "head", CHUNK_HEAD, text, bytes, err);
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

/* The counts let a reader tell a log that lost its last chunks from a whole one. */
int writer_end(struct writer *writer, const char *text, size_t bytes, struct err *err)
{
    struct text counts = {0};
    char *all;

    if (writer_keep_flush(writer, err))
        return -1;
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
    if (!bad && unlinkat(writer->dir, "ring", 0) && errno != ENOENT)
        bad = fail(writer, "ring", err);
    return bad;
}
