/* contents.c - read a pinball: the bytes of kept files.
 *
 * SPDX-License-Identifier: MIT
 *
 * Contents are chunks of KEPT_CHUNK_BYTES each, but for the last: which chunk holds a byte needs no
 * search, and only that one is unpacked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "pinball/pinball_private.h"

static const uint64_t HELD_FREE = 256ull << 20;
enum { HELD_RATIO = 64 };

static uint64_t raw_bytes(uint64_t total, uint64_t i)
{
    uint64_t left = total - i * KEPT_CHUNK_BYTES;

    return left < KEPT_CHUNK_BYTES ? left : KEPT_CHUNK_BYTES;
}

void contents_close(struct contents *contents)
{
    store_close_member(&contents->member);
    free(contents->at);
    free(contents->data);
    *contents = (struct contents){.member.span.fd = -1};
}

/* Finds the chunks, which must be exactly those that make up c->bytes. */
static int scan(struct contents *c, struct err *err)
{
    const struct span *span = &c->member.span;
    struct chunk_want want = {.kind = CHUNK_FILE};
    struct chunk chunk;
    uint64_t at = 0, expected = c->bytes / KEPT_CHUNK_BYTES + (c->bytes % KEPT_CHUNK_BYTES > 0);

    /* Each takes a header at least: memory is allocated only for a plausible range. */
    if (expected > span->bytes / sizeof chunk)
        return chunk_damaged(span, span->bytes / sizeof chunk, err, "is missing");
    c->at = malloc((expected + 1) * sizeof *c->at);
    if (!c->at)
        return err_set(err, "%s: no memory", span->label);
    for (; want.sequence < expected; want.sequence++) {
        int got = chunk_read(span, at, want, &chunk, err);
        if (got < 0)
            return -1;
        if (got == 0)
            return chunk_damaged(span, want.sequence, err, "is missing");
        if (chunk.raw != raw_bytes(c->bytes, want.sequence) ||
            chunk.extra != want.sequence * KEPT_CHUNK_BYTES)
            return chunk_damaged(span, want.sequence, err, "is not where it should be");
        c->at[want.sequence] = at;
        at = chunk_next(at, &chunk);
    }
    c->chunks = expected;
    return at == span->bytes ? 0 : chunk_damaged(span, expected, err, "should not be there");
}

int contents_open(struct pinball *pinball, enum kept_kind kind, const struct kept_range *range,
                  struct err *err)
{
    struct contents *c = &pinball->contents;
    char name[STORE_NAME_BYTES];

    if (c->kind == kind && c->bytes == range->bytes && strcmp(c->sha256, range->sha256) == 0)
        return 0;
    contents_close(c);
    c->data = malloc(KEPT_CHUNK_BYTES);
    if (!c->data)
        return err_set(err, "%s: no memory", pinball_path(pinball));
    kept_name(name, sizeof name, kind, range->sha256);
    int found = store_find(pinball->store, name, &c->member, err);
    if (found == 0)
        err_set(err, "%s: is missing", c->member.label);
    c->bytes = range->bytes;
    c->unpacked = UINT64_MAX;
    if (found <= 0 || scan(c, err)) {
        contents_close(c);
        return -1;
    }
    c->kind = kind;
    memcpy(c->sha256, range->sha256, sizeof c->sha256);
    return 0;
}

int contents_unpack(struct pinball *pinball, uint64_t i, size_t *bytes, struct err *err)
{
    struct contents *c = &pinball->contents;
    struct chunk_want want = {.kind = CHUNK_FILE, .sequence = i};
    struct chunk chunk;

    *bytes = raw_bytes(c->bytes, i);
    if (c->unpacked == i)
        return 0;
    c->unpacked = UINT64_MAX;
    if (chunk_read(&c->member.span, c->at[i], want, &chunk, err) <= 0)
        return -1;
    if (chunk.raw != *bytes)
        return chunk_damaged(&c->member.span, i, err, "changed after it was opened");
    if (chunk_unpack(&c->member.span, c->at[i], &chunk, c->data, &pinball->packer, err))
        return -1;
    c->unpacked = i;
    return 0;
}

/* Bytes [from, to) of a range. */
static int read_range(struct pinball *p, enum kept_kind kind, const struct kept_range *range,
                      uint64_t from, uint64_t to, char *out, struct err *err)
{
    if (contents_open(p, kind, range, err))
        return -1;
    while (from < to) {
        uint64_t i = from / KEPT_CHUNK_BYTES;
        size_t skip = from % KEPT_CHUNK_BYTES, bytes;
        if (contents_unpack(p, i, &bytes, err))
            return -1;
        size_t n = bytes - skip < to - from ? bytes - skip : to - from;
        memcpy(out, p->contents.data + skip, n);
        out += n, from += n;
    }
    return 0;
}

/* The first range that ends behind offset. */
static size_t first_range(const struct kept_file *file, uint64_t offset)
{
    return search_first(file->ranges, i, file->range[i].offset + file->range[i].bytes <= offset);
}

static bool plausible(uint64_t held, uint64_t stored)
{
    return held <= HELD_FREE || (held - HELD_FREE) / HELD_RATIO <= stored;
}

uint64_t pinball_gathers_most(const struct pinball *pinball)
{
    const uint64_t stored = pinball->events.span.bytes;
    return stored > (UINT64_MAX - HELD_FREE) / HELD_RATIO ? UINT64_MAX
                                                          : HELD_FREE + HELD_RATIO * stored;
}

bool pinball_may_unpack(struct pinball *pinball, uint32_t number)
{
    const struct kept_file *file = pinball_file(pinball, number);
    uint64_t stored = pinball->held_stored, held;
    struct err unused;

    for (size_t i = 0; file && i < file->ranges; i++) {
        if (contents_open(pinball, file->kind, &file->range[i], &unused))
            return false;
        stored += pinball->contents.member.span.bytes;
    }
    if (!file || __builtin_add_overflow(pinball->held, file->size, &held) ||
        !plausible(held, stored))
        return false;
    pinball->held = held;
    pinball->held_stored = stored;
    return true;
}

int pinball_file_read(struct pinball *pinball, uint32_t number, uint64_t offset, void *buf,
                      size_t bytes, struct err *err)
{
    const struct kept_file *file = pinball_file(pinball, number);
    uint64_t end;

    if (!file)
        return err_set(err, "%s: keeps no file %u", pinball_path(pinball), number);
    if (__builtin_add_overflow(offset, bytes, &end))
        return err_set(err, "%s: file %u: has no such range", pinball_path(pinball), number);
    if (file->waiting)
        return err_set(err, "%s: file %u, %s: the recorder was killed before it kept it",
                       pinball_path(pinball), number, file->path);
    memset(buf, 0, bytes);
    for (size_t i = first_range(file, offset); i < file->ranges; i++) {
        const struct kept_range *r = &file->range[i];
        uint64_t from = offset > r->offset ? offset : r->offset;
        uint64_t to = end < r->offset + r->bytes ? end : r->offset + r->bytes;
        if (r->offset >= end)
            break;
        if (from < to && read_range(pinball, file->kind, r, from - r->offset, to - r->offset,
                                    (char *)buf + (from - offset), err))
            return -1;
    }
    return 0;
}
