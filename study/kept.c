/* kept.c - what was found out about a trace, kept beside it. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* asprintf */
#include "study/kept.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "pinball/chunk.h"
#include "pinball/pinball.h"
#include "study/study_private.h"

enum { PIECE = 4 << 20, LEVEL = 9, KEY_TEXT = 512 };
static const uint64_t MOST = 8ull << 30; /* of one fact */

static bool has_place(const struct study *s)
{
    return s->trace && s->own && s->own->keeps && !s->own->broker && pinball_is_own(s->pinball);
}

/* What the file must begin with. */
static void write_key(const struct study *s, const struct kept_fact *f, char key[KEY_TEXT])
{
    snprintf(key, KEY_TEXT, "%s %" PRIu32 " %016" PRIx64 "\ntrace %d %" PRIu64 " %" PRIu32 " %s\n",
             f->name, f->version, f->key, TRACE_VERSION, trace_insns(s->trace),
             trace_chunks(s->trace), trace_about(s->trace));
}

static char *file_name(const char *trace, const struct kept_fact *f)
{
    char *name;
    return asprintf(&name, "%s.%s", trace, f->name) < 0 ? NULL : name;
}

/* ---- reading ---- */

struct reading {
    struct span span;
    struct packer packer;
    uint64_t at, sequence;
};

/* The next chunk's bytes in *data, which grows. 1, 0 at the end, -1. */
static int read_piece(struct reading *r, uint8_t **data, size_t *bytes)
{
    struct chunk c;
    struct err err;
    int more = chunk_read(&r->span, r->at, (struct chunk_want){CHUNK_FACT, r->sequence}, &c, &err);
    if (more <= 0)
        return more;
    uint8_t *larger = *bytes + c.raw <= MOST ? realloc(*data, *bytes + c.raw + 1) : NULL;
    if (!larger)
        return -1;
    *data = larger;
    if (chunk_unpack(&r->span, r->at, &c, larger + *bytes, &r->packer, &err))
        return -1;
    *bytes += c.raw;
    r->at = chunk_next(r->at, &c);
    r->sequence++;
    return 1;
}

static void *read_all(int fd, const char *key, size_t *bytes)
{
    struct stat st;
    struct reading r = {.span = {.fd = fd, .label = "facts"}};
    uint8_t *first = NULL, *data = NULL;
    size_t first_bytes = 0;
    *bytes = 0;
    if (fstat(fd, &st))
        return NULL;
    r.span.bytes = (uint64_t)st.st_size;
    int more = read_piece(&r, &first, &first_bytes);
    if (more == 1 && (first_bytes != strlen(key) || memcmp(first, key, first_bytes) != 0))
        more = -1;
    while (more == 1)
        more = read_piece(&r, &data, bytes);
    free(first);
    chunk_deinit_packer(&r.packer);
    if (!more && r.sequence > 1)
        return data;
    free(data);
    return NULL;
}

void *kept_get(const struct study *s, const struct kept_fact *fact, size_t *bytes)
{
    char key[KEY_TEXT];
    const char *last;
    void *data = NULL;
    char *path = has_place(s) ? file_name(s->trace_path, fact) : NULL;
    int folder = path ? beneath_folder_of(path, &last) : -1;
    int fd = folder >= 0 ? beneath_open(folder, last, O_RDONLY) : -1;
    if (fd >= 0) {
        write_key(s, fact, key);
        data = read_all(fd, key, bytes);
        close(fd);
    }
    if (folder >= 0)
        close(folder);
    free(path);
    return data;
}

/* ---- writing ---- */

/* At least one piece follows the key, so that what ends early is seen. */
static int write_all(int fd, const char *key, const uint8_t *data, size_t bytes)
{
    struct chunk_file file = {.fd = fd, .label = "facts"};
    struct packer packer = {0};
    struct err err;
    uint64_t sequence = 0;
    int bad = chunk_append(&file, (struct chunk_new){CHUNK_FACT, 0, sequence++, bytes}, key,
                           strlen(key), &packer, &err);
    size_t at = 0;
    do {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (!bad)
            bad = chunk_append(&file, (struct chunk_new){CHUNK_FACT, LEVEL, sequence++, at},
                               data + at, n, &packer, &err);
        at += n;
    } while (!bad && at < bytes);
    chunk_deinit_packer(&packer);
    return bad;
}

void kept_put(const struct study *s, const struct kept_fact *fact, const void *data, size_t bytes)
{
    char key[KEY_TEXT];
    const char *last;
    struct beneath_new file;
    char *path = has_place(s) ? file_name(s->trace_path, fact) : NULL;
    int folder = path ? beneath_folder_of(path, &last) : -1;
    if (folder >= 0 && !beneath_begin(&file, folder, last)) {
        write_key(s, fact, key);
        if (write_all(file.fd, key, data, bytes))
            beneath_abandon(&file);
        else
            beneath_finish(&file, last, false);
    }
    if (folder >= 0)
        close(folder);
    free(path);
}

/* ---- lists ---- */

uint8_t *kept_put_list(uint8_t *to, const void *list, size_t count, size_t bytes)
{
    const uint8_t *from = list;
    for (size_t w = 0; w < bytes; w += KEPT_WORD) {
        uint64_t last = 0, now;
        for (size_t i = 0; i < count; i++, last = now) {
            memcpy(&now, from + i * bytes + w, KEPT_WORD);
            for (size_t k = 0; k < KEPT_WORD; k++)
                to[(w + k) * count + i] = (uint8_t)((now - last) >> (8 * k));
        }
    }
    return to + count * bytes;
}

const uint8_t *kept_get_list(const uint8_t *from, void *list, size_t count, size_t bytes)
{
    uint8_t *copy = malloc(count * bytes + 1);
    if (!from || !copy) {
        free(copy);
        return NULL;
    }
    for (size_t w = 0; w < bytes; w += KEPT_WORD) {
        uint64_t now = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t difference = 0;
            for (size_t k = 0; k < KEPT_WORD; k++)
                difference |= (uint64_t)from[(w + k) * count + i] << (8 * k);
            now += difference;
            memcpy(copy + i * bytes + w, &now, KEPT_WORD);
        }
    }
    memcpy(list, &copy, sizeof copy);
    return from + count * bytes;
}
