/* keep.c - write a pinball while the program runs: the files that it maps.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1. A number that was given out has an entry in `index`. The contents are in `files` before an
 *    entry names them; until then an entry says which file is `waiting`, so that they can still be
 *    had after a crash, if the file has not changed. A file without a name does not wait.
 * 2. What is in `files` never changes: it is written under another name first. So two recordings of
 *    the same bytes are the same, and a torn file has no name that an entry could refer to.
 * 3. A file is taken for unchanged only if its ctime was old when it was read: the kernel's clock
 *    for it is coarse, and a change right after would not show. Bytes written through a shared
 *    mapping may not show either; the code that maps such a file must log them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "pinball/beneath.h"
#include "pinball/piece.h"
#include "pinball/writer_private.h"

enum { CLOCK_SLACK_S = 3, WAITING_MAX = WRITER_WHOLE_BYTES };
enum { HOLE_BYTES = 1 << 20, PAGE_BYTES = 4096 }; /* smaller holes are kept as zeros */
enum { ENTRY_RANGES = 256 };                      /* of an entry, which has its limit */

static const char temporary[] = KEEP_TEMPORARY;

static int fail(const struct writer *w, const char *name, int error, struct err *err)
{
    return err_set_code(err, error, "%s/%s: %s", w->path, name, strerror(error));
}

/* ---- what is in `files` ---- */

static int open_piece(struct writer *w, struct piece *piece, struct err *err)
{
    int fd = beneath_create(w->files, temporary);

    piece_init(piece, fd, w->files_label);
    return fd < 0 ? fail(w, "files", errno, err) : 0;
}

/* Gives it its name, or gives it up if it is bad. */
static int close_piece(struct writer *w, struct piece *piece, int bad, const char *sha256,
                       struct err *err)
{
    close(piece->file.fd);
    if (!bad && renameat(w->files, temporary, w->files, sha256))
        bad = fail(w, "files", errno, err);
    if (bad)
        unlinkat(w->files, temporary, 0);
    return bad;
}

static int write_contents(struct writer *w, const char *data, size_t bytes, char sha256[SHA256_HEX],
                          struct err *err)
{
    struct piece piece;
    struct sha256 sha;
    int bad = 0;

    sha256_init(&sha);
    sha256_add(&sha, data, bytes);
    sha256_hex(&sha, sha256);
    if (beneath_exists(w->files, sha256))
        return 0;
    if (open_piece(w, &piece, err))
        return -1;
    for (size_t at = 0; !bad && at < bytes; at += KEPT_CHUNK_BYTES)
        bad = piece_add(&piece, data + at,
                        bytes - at < KEPT_CHUNK_BYTES ? bytes - at : KEPT_CHUNK_BYTES, &w->packer,
                        err);
    return close_piece(w, &piece, bad, sha256, err);
}

/* Copies a range that may be longer than memory. *range says what there was. */
static int copy_range(struct writer *w, int fd, struct kept_range *range, struct err *err)
{
    struct piece piece;

    if (open_piece(w, &piece, err))
        return -1;
    int bad = piece_copy(&piece, fd, range, &w->packer, err);
    return close_piece(w, &piece, bad, range->sha256, err);
}

/* ---- the list ---- */

static struct identity identify(const struct stat *st)
{
    return (struct identity){st->st_dev, st->st_ino, st->st_size, st->st_mtim, st->st_ctim};
}

void keep_identity(const struct stat *st, char text[IDENTITY_BYTES])
{
    snprintf(text, IDENTITY_BYTES, "%llu %llu %lld %lld.%09ld %lld.%09ld",
             (unsigned long long)st->st_dev, (unsigned long long)st->st_ino, (long long)st->st_size,
             (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, (long long)st->st_ctim.tv_sec,
             st->st_ctim.tv_nsec);
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same(const struct identity *a, const struct identity *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           same_time(a->mtime, b->mtime) && same_time(a->ctime, b->ctime);
}

static struct keeping *find(const struct writer *w, const struct identity *id)
{
    for (size_t i = w->keepings; i > 0; i--)
        if (w->keeping[i - 1]->trusted && same(&w->keeping[i - 1]->id, id))
            return w->keeping[i - 1];
    return NULL;
}

static struct keeping *add(struct writer *w, int fd, const struct stat *st)
{
    struct keeping *k = calloc(1, sizeof *k);
    char link[32];
    struct timespec now;

    if (!k)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    k->id = identify(st);
    k->trusted = st->st_ctim.tv_sec + CLOCK_SLACK_S < now.tv_sec;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, k->path, sizeof k->path - 1);
    k->path[n > 0 ? n : 0] = '\0';
    kept_build_id(fd, k->build_id);
    keep_identity(st, k->identity);
    k->file = (struct kept_file){.number = (uint32_t)w->keepings,
                                 .size = (uint64_t)st->st_size,
                                 .path = k->path,
                                 .build_id = k->build_id[0] ? k->build_id : NULL};
    if (array_append(&w->keeping, &w->keepings, k)) {
        free(k);
        return NULL;
    }
    return k;
}

/* Its contents do not wait any more. */
static void let_go(struct writer *w, struct keeping *k)
{
    if (k->waiting && !k->shelved) {
        w->waiting_bytes -= k->waiting_bytes;
        free(k->waiting);
    }
    k->waiting = NULL;
}

static void free_keeping(struct writer *w, struct keeping *k)
{
    let_go(w, k);
    free(k->file.range);
    free(k);
}

/* Takes back the newest one: nobody has been told its number. */
static void drop(struct writer *w, struct keeping *k)
{
    w->keepings--;
    free_keeping(w, k);
}

void keep_deinit(struct writer *writer)
{
    for (size_t i = 0; i < writer->keepings; i++)
        free_keeping(writer, writer->keeping[i]);
    free(writer->keeping);
}

/* An entry with the ranges from `first` on. */
static int write_entry(struct writer *w, const struct keeping *k, size_t first, struct err *err)
{
    struct chunk_new what = {.kind = CHUNK_INDEX, .sequence = w->entries};
    struct text text = {0};
    int bad = -1;

    kept_text(&text, &k->file, first);
    seal_entry(&w->seal, "index", w->entries, &text);
    if (!text.data)
        fail(w, "index", ENOMEM, err);
    else
        bad = chunk_append(&w->index, what, text.data, text.bytes, &w->packer, err);
    text_deinit(&text);
    w->entries += !bad;
    return bad;
}

/* ---- large files ---- */

/* The first part of [*from, to) that no range covers: true, with it in *range. */
static bool uncovered(const struct keeping *k, uint64_t *from, uint64_t to,
                      struct kept_range *range)
{
    uint64_t end = to;

    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < k->file.ranges; i++) {
            const struct kept_range *r = &k->file.range[i];
            if (r->offset <= *from && *from - r->offset < r->bytes) {
                *from = r->offset + r->bytes;
                moved = true;
            }
        }
    }
    if (*from >= to)
        return false;
    for (size_t i = 0; i < k->file.ranges; i++)
        if (k->file.range[i].offset > *from && k->file.range[i].offset < end)
            end = k->file.range[i].offset;
    *range = (struct kept_range){.offset = *from, .bytes = end - *from};
    *from = end;
    return true;
}

/* The next stretch of data in [*from, to), without holes that are worth leaving out: true, and
 * where it lies in *start and *end. What a file system cannot tell is data. */
static bool next_data(int fd, uint64_t from, uint64_t to, uint64_t *start, uint64_t *end)
{
    off_t data = lseek(fd, (off_t)from, SEEK_DATA);

    if ((data < 0 && errno == ENXIO) || (data >= 0 && (uint64_t)data >= to))
        return false;
    *start = data < 0 ? from : (uint64_t)data / PAGE_BYTES * PAGE_BYTES;
    *start = *start < from ? from : *start;
    *end = to;
    for (off_t at = data; at >= 0 && (uint64_t)at < to;) {
        off_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || (uint64_t)hole >= to)
            return true;
        at = lseek(fd, hole, SEEK_DATA);
        if (at < 0 || at - hole >= HOLE_BYTES) {
            *end = (uint64_t)hole;
            return true;
        }
    }
    return true;
}

/* Adds what is in [from, to) to the ranges of the file; entries for those from *written on follow
 * when there are many. */
static int keep_extents(struct writer *w, struct keeping *k, int fd, struct kept_range part,
                        size_t *written, struct err *err)
{
    const uint64_t to = part.offset + part.bytes;
    uint64_t start, end;

    for (uint64_t at = part.offset; at < to && next_data(fd, at, to, &start, &end); at = end) {
        struct kept_range range = {.offset = start, .bytes = end - start};
        if (copy_range(w, fd, &range, err))
            return -1;
        if (range.bytes == 0)
            return 0; /* the file became shorter */
        if (array_append(&k->file.range, &k->file.ranges, range))
            return fail(w, "files", ENOMEM, err);
        if (k->file.ranges - *written < ENTRY_RANGES)
            continue;
        if (write_entry(w, k, *written, err))
            return -1;
        *written = k->file.ranges;
    }
    return 0;
}

/* Adds [from, to) to the ranges; a new file gets its entry. */
static int keep_range(struct writer *w, struct keeping *k, int fd, bool is_new, uint64_t from,
                      uint64_t to, struct err *err)
{
    size_t first = k->file.ranges;
    struct kept_range part;
    int bad = 0;

    while (!bad && uncovered(k, &from, to, &part))
        bad = keep_extents(w, k, fd, part, &first, err);
    if (!bad && (is_new || k->file.ranges > first))
        bad = write_entry(w, k, first, err);
    if (bad)
        k->file.ranges = first;
    return bad;
}

/* ---- small files ---- */

static int read_whole(struct writer *w, struct keeping *k, int fd, struct err *err)
{
    struct shelf *shelf = k->trusted ? w->shelf : NULL;
    k->waiting = shelf ? shelf_find(shelf, k->identity, &k->waiting_bytes) : NULL;
    k->shelved = k->waiting;
    if (k->shelved)
        return 0;
    k->waiting_bytes = k->file.size;
    k->waiting = malloc(k->waiting_bytes + 1);
    if (!k->waiting)
        return fail(w, "files", ENOMEM, err);
    int error = piece_read_fd(fd, 0, k->waiting, &k->waiting_bytes);
    k->shelved = shelf && !error && shelf_put(shelf, k->identity, k->waiting, k->waiting_bytes);
    w->waiting_bytes += k->shelved ? 0 : k->waiting_bytes;
    return error ? fail(w, "files", error, err) : 0;
}

static int flush_one(struct writer *w, struct keeping *k, struct err *err)
{
    struct kept_range range = {.bytes = k->waiting_bytes};

    k->file.waiting = NULL;

    if (k->file.ranges == 0 && k->waiting_bytes > 0) {
        if (write_contents(w, k->waiting, k->waiting_bytes, range.sha256, err))
            return -1;
        if (array_append(&k->file.range, &k->file.ranges, range))
            return fail(w, "files", ENOMEM, err);
    }
    if (write_entry(w, k, 0, err))
        return -1;
    let_go(w, k);
    return 0;
}

/* The entry comes last: what has one stays. */
static int keep_whole(struct writer *w, struct keeping *k, int fd, bool may_wait, struct err *err)
{
    if (read_whole(w, k, fd, err))
        return -1;
    if (may_wait) {
        k->file.waiting = k->identity;
        return write_entry(w, k, 0, err);
    }
    return flush_one(w, k, err);
}

int keep_again(struct writer *writer, const struct kept_file *file, int fd, struct err *err)
{
    struct keeping *k = calloc(1, sizeof *k);
    int bad = -1;

    if (!k)
        return fail(writer, "files", ENOMEM, err);
    k->file = *file;
    k->file.range = NULL;
    k->file.ranges = 0;
    if (read_whole(writer, k, fd, err) == 0)
        bad = flush_one(writer, k, err);
    free_keeping(writer, k);
    return bad;
}

void writer_share(struct writer *writer, struct shelf *shelf)
{
    writer->shelf = shelf;
}

int writer_keep_flush(struct writer *writer, struct err *err)
{
    for (; writer->first_waiting < writer->keepings; writer->first_waiting++) {
        struct keeping *k = writer->keeping[writer->first_waiting];
        if (k->waiting && flush_one(writer, k, err))
            return -1;
    }
    return 0;
}

int writer_keep(struct writer *writer, int fd, uint64_t offset, uint64_t bytes, uint32_t *number,
                uint64_t *size, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st))
        return fail(writer, "files", errno, err);
    struct identity id = identify(&st);
    struct keeping *k = find(writer, &id);
    bool is_new = !k, large = st.st_size > WRITER_WHOLE_BYTES;

    if (is_new && !large && writer->waiting_bytes > WAITING_MAX - (uint64_t)st.st_size &&
        writer_keep_flush(writer, err))
        return -1;
    if (is_new && !(k = add(writer, fd, &st)))
        return fail(writer, "files", ENOMEM, err);
    int bad = 0;
    uint64_t from = offset < k->file.size ? offset : k->file.size;
    uint64_t to = bytes < k->file.size - from ? from + bytes : k->file.size;
    if (large)
        bad = keep_range(writer, k, fd, is_new, from, to, err);
    else if (is_new)
        bad = keep_whole(writer, k, fd, st.st_nlink > 0, err);
    if (bad && is_new && k->file.ranges == 0)
        drop(writer, k);
    else if (bad)
        k->trusted = false; /* some of it has an entry, so the number is taken; nobody uses it */
    if (bad)
        return -1;
    *number = k->file.number;
    *size = k->file.size;
    return 0;
}
