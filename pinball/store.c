/* store.c - the files that a pinball is made of, in a directory or in one packed file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "pinball/beneath.h"

struct entry {
    char name[STORE_NAME_BYTES];
    uint64_t offset, bytes;
};

struct store {
    char *path;
    int fd;
    bool packed;
    uint64_t bytes;
    struct entry *entry; /* of a packed one, by name */
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool is_name(const char *name, size_t bytes)
{
    if (bytes == 0 || bytes >= STORE_NAME_BYTES || name[0] == '/')
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (name[i] <= ' ' || name[i] > '~' || (i > 0 && name[i] == '.' && name[i - 1] == '.'))
            return false;
    return true;
}

static int add_entry(struct store *s, const struct span *span, uint64_t at,
                     const struct chunk *chunk, struct err *err)
{
    uint64_t begin = chunk_next(at, chunk);
    struct packer none = {0};
    struct entry e = {.offset = begin, .bytes = chunk->extra};
    char *const name = e.name;

    if (chunk->raw >= sizeof e.name)
        return chunk_damaged(span, chunk->sequence, err, "a name that is too long");
    if (chunk_unpack(span, at, chunk, name, &none, err))
        return -1;
    if (!is_name(name, chunk->raw) || strlen(name) != chunk->raw)
        return chunk_damaged(span, chunk->sequence, err, "not a member's name");
    if (chunk->extra > span->bytes - begin)
        return chunk_damaged(span, chunk->sequence, err, "%s is cut off", name);
    return array_append(&s->entry, &s->count, e) ? err_set(err, "%s: no memory", s->path) : 0;
}

static int read_entries(struct store *s, struct err *err)
{
    struct span span = {.fd = s->fd, .bytes = s->bytes, .label = s->path};
    struct chunk_want want = {.kind = CHUNK_MEMBER};
    struct chunk chunk;
    uint64_t at = 0;
    int more;

    while ((more = chunk_read(&span, at, want, &chunk, err)) > 0) {
        if (add_entry(s, &span, at, &chunk, err))
            return -1;
        at = chunk_next(at, &chunk) + chunk.extra;
        want.sequence++;
    }
    if (more < 0)
        return -1;
    if (s->count > 0)
        qsort(s->entry, s->count, sizeof *s->entry, by_name);
    for (size_t i = 1; i < s->count; i++)
        if (strcmp(s->entry[i - 1].name, s->entry[i].name) == 0)
            return err_set(err, "%s: holds %s twice", s->path, s->entry[i].name);
    return 0;
}

struct store *store_open(const char *path, struct err *err)
{
    struct store *s = calloc(1, sizeof *s);
    struct stat st;

    if (!s || !(s->path = strdup(path))) {
        free(s);
        err_set(err, "%s: no memory", path);
        return NULL;
    }
    /* A FIFO must not make us wait. */
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st)) {
        err_set_code(err, errno, "%s: %s", path, strerror(errno));
        goto fail;
    }
    s->packed = !S_ISDIR(st.st_mode);
    if (!s->packed)
        return s;
    if (!S_ISREG(st.st_mode)) {
        err_set(err, "%s: neither a directory nor a file", path);
        goto fail;
    }
    s->bytes = (uint64_t)st.st_size;
    if (s->bytes == 0) {
        err_set(err, "%s: is empty, not a pinball", path);
        goto fail;
    }
    if (read_entries(s, err))
        goto fail;
    return s;
fail:
    store_close(s);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->fd >= 0)
        close(store->fd);
    free(store->entry);
    free(store->path);
    free(store);
}

static int find_file(struct store *s, const char *name, struct member *m, struct err *err)
{
    struct stat st;
    int fd = beneath_open(s->fd, name, O_RDONLY);

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st)) {
        err_set_code(err, errno, "%s: %s", m->label, beneath_error(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    m->span.fd = fd;
    m->span.bytes = (uint64_t)st.st_size;
    m->own_fd = true;
    return 1;
}

int store_find(struct store *store, const char *name, struct member *member, struct err *err)
{
    struct entry key;

    *member = (struct member){.span.fd = -1};
    snprintf(member->label, sizeof member->label, "%s/%s", store->path, name);
    member->span.label = member->label;
    if (!store->packed)
        return find_file(store, name, member, err);

    snprintf(key.name, sizeof key.name, "%s", name);
    const struct entry *e =
        store->count ? bsearch(&key, store->entry, store->count, sizeof key, by_name) : NULL;
    if (!e)
        return 0;
    member->span.fd = store->fd;
    member->span.offset = e->offset;
    member->span.bytes = e->bytes;
    return 1;
}

void store_close_member(struct member *member)
{
    if (!member)
        return;
    if (member->own_fd)
        close(member->span.fd);
    member->own_fd = false;
    member->span.fd = -1;
}

bool store_is_packed(const struct store *store)
{
    return store->packed;
}

int store_fd(const struct store *store)
{
    return store->fd;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

uint64_t store_bytes(const struct store *store)
{
    return store->bytes;
}
