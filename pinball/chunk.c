/* chunk.c - chunks of a pinball's files: append one, check and read one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/chunk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include "pinball/xxh64.h"

void chunk_deinit_packer(struct packer *packer)
{
    ZSTD_freeDCtx(packer->in);
    ZSTD_freeCCtx(packer->out);
    free(packer->room);
    *packer = (struct packer){0};
}

static int reserve(struct packer *packer, size_t bytes, struct err *err)
{
    if (bytes <= packer->room_bytes)
        return 0;
    void *room = realloc(packer->room, bytes);
    if (!room)
        return err_set_code(err, ENOMEM, "no memory for %zu bytes", bytes);
    packer->room = room;
    packer->room_bytes = bytes;
    return 0;
}

/* ---- reading ---- */

int chunk_damaged(const struct span *span, uint64_t sequence, struct err *err, const char *fmt, ...)
{
    char cause[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(cause, sizeof cause, fmt, args);
    va_end(args);
    return err_set_code(err, CHUNK_DAMAGED, "%s: chunk %llu: %s", span->label,
                        (unsigned long long)sequence, cause);
}

int chunk_pread(const struct span *span, uint64_t at, void *out, size_t bytes, struct err *err)
{
    char *p = out;

    if (at > span->bytes || bytes > span->bytes - at)
        return err_set(err, "%s: cut off", span->label);
    while (bytes > 0) {
        ssize_t n = pread(span->fd, p, bytes, (off_t)(span->offset + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_code(err, errno, "%s: %s", span->label, strerror(errno));
        if (n == 0)
            return err_set(err, "%s: became shorter while it was read", span->label);
        p += n, at += (uint64_t)n, bytes -= (size_t)n;
    }
    return 0;
}

static bool may_be_packed(unsigned kind)
{
    return kind == CHUNK_EVENTS || kind == CHUNK_FILE || kind == CHUNK_TRACE ||
           kind == CHUNK_SLICE || kind == CHUNK_FACT;
}

static const char *wrong_sizes(const struct chunk *c, uint64_t room)
{
    if (c->flags & ~(uint32_t)CHUNK_ZSTD || c->pad != 0)
        return "unknown flags";
    if (c->flags & CHUNK_ZSTD && !may_be_packed(c->kind))
        return "compressed, which its kind never is";
    if (c->raw > CHUNK_MAX_BYTES)
        return "too large";
    if (c->flags & CHUNK_ZSTD ? c->stored >= c->raw : c->stored != c->raw)
        return "its sizes contradict each other";
    if (c->stored > room)
        return "cut off";
    return NULL;
}

int chunk_read(const struct span *span, uint64_t at, struct chunk_want want, struct chunk *chunk,
               struct err *err)
{
    uint64_t n = want.sequence;

    if (at == span->bytes)
        return 0;
    if (at > span->bytes || span->bytes - at < sizeof *chunk)
        return chunk_damaged(span, n, err, "cut off");
    if (chunk_pread(span, at, chunk, sizeof *chunk, err))
        return -1;
    if (chunk->magic != CHUNK_MAGIC)
        return at > 0 ? chunk_damaged(span, n, err, "no chunk begins here")
                      : err_set_code(err, CHUNK_DAMAGED, "%s: not a pinball", span->label);
    if (chunk->version < PINBALL_OLDEST || chunk->version > PINBALL_VERSION)
        return err_set(err, "%s: is version %u, this drdebug reads versions %d to %d", span->label,
                       chunk->version, PINBALL_OLDEST, PINBALL_VERSION);
    if (chunk->header_sum != xxh64(chunk, offsetof(struct chunk, header_sum), 0))
        return chunk_damaged(span, n, err, "checksum of its header does not match");
    if (chunk->kind != want.kind)
        return chunk_damaged(span, n, err, "is of kind %u, not %u", chunk->kind, want.kind);
    if (chunk->sequence != n)
        return chunk_damaged(span, n, err, "is chunk %llu", (unsigned long long)chunk->sequence);
    const char *cause = wrong_sizes(chunk, span->bytes - at - sizeof *chunk);
    if (cause)
        return chunk_damaged(span, n, err, "%s", cause);
    return 1;
}

uint64_t chunk_next(uint64_t at, const struct chunk *chunk)
{
    return at + sizeof *chunk + chunk->stored;
}

static int unpack(const struct span *span, const struct chunk *chunk, void *out,
                  struct packer *packer, struct err *err)
{
    static const uint32_t magic = ZSTD_MAGICNUMBER;
    const void *in = packer->room;

    /* One frame and nothing behind it; zstd itself would take several, and skip some. */
    if (chunk->stored < sizeof magic || memcmp(in, &magic, sizeof magic) != 0 ||
        ZSTD_findFrameCompressedSize(in, chunk->stored) != chunk->stored)
        return chunk_damaged(span, chunk->sequence, err, "is not one zstd frame");
    if (!packer->in && !(packer->in = ZSTD_createDCtx()))
        return err_set_code(err, ENOMEM, "no memory");
    size_t n = ZSTD_decompressDCtx(packer->in, out, chunk->raw, in, chunk->stored);
    if (ZSTD_isError(n))
        return chunk_damaged(span, chunk->sequence, err, "%s", ZSTD_getErrorName(n));
    if (n != chunk->raw)
        return chunk_damaged(span, chunk->sequence, err, "unpacks to %zu bytes, not %llu", n,
                             (unsigned long long)chunk->raw);
    return 0;
}

int chunk_unpack(const struct span *span, uint64_t at, const struct chunk *chunk, void *out,
                 struct packer *packer, struct err *err)
{
    bool packed = chunk->flags & CHUNK_ZSTD;

    if (packed && reserve(packer, chunk->stored, err))
        return -1;
    void *stored = packed ? packer->room : out;
    if (chunk_pread(span, at + sizeof *chunk, stored, chunk->stored, err))
        return -1;
    if (chunk->sum != xxh64(stored, chunk->stored, 0))
        return chunk_damaged(span, chunk->sequence, err, "checksum does not match");
    return packed ? unpack(span, chunk, out, packer, err) : 0;
}

/* ---- writing ---- */

/* Cuts off what a failed write left. */
static int fail_write(struct chunk_file *file, int error, struct err *err)
{
    if (ftruncate(file->fd, (off_t)file->bytes))
        return err_set_code(err, error, "%s: %s, and its end cannot be put right", file->label,
                            strerror(error));
    return err_set_code(err, error, "%s: %s", file->label, strerror(error));
}

static int append(struct chunk_file *file, struct iovec part[2], struct err *err)
{
    uint64_t at = file->bytes;

    while (part[0].iov_len + part[1].iov_len > 0) {
        ssize_t n = pwritev(file->fd, part, 2, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_write(file, n < 0 ? errno : ENOSPC, err);
        at += (uint64_t)n;
        for (int i = 0; i < 2; i++) {
            size_t part_n = (size_t)n < part[i].iov_len ? (size_t)n : part[i].iov_len;
            part[i].iov_base = (char *)part[i].iov_base + part_n;
            part[i].iov_len -= part_n;
            n -= (ssize_t)part_n;
        }
    }
    file->bytes = at;
    return 0;
}

int chunk_append_bytes(struct chunk_file *file, const void *data, size_t bytes, struct err *err)
{
    struct iovec part[2] = {{(void *)data, bytes}, {NULL, 0}};

    return append(file, part, err);
}

void chunk_seal(struct chunk *chunk, const void *stored, size_t bytes)
{
    chunk->magic = CHUNK_MAGIC;
    chunk->version = PINBALL_VERSION;
    chunk->pad = 0;
    chunk->stored = bytes;
    chunk->sum = xxh64(stored, bytes, 0);
    chunk->header_sum = xxh64(chunk, offsetof(struct chunk, header_sum), 0);
}

/* 1 with packer->room holding *bytes that are fewer than before, 0 if they would not be. */
static int pack(struct packer *packer, int level, const void *raw, size_t *bytes, struct err *err)
{
    if (reserve(packer, ZSTD_compressBound(*bytes), err))
        return -1;
    if (!packer->out && !(packer->out = ZSTD_createCCtx()))
        return err_set_code(err, ENOMEM, "no memory");
    size_t n = ZSTD_compressCCtx(packer->out, packer->room, packer->room_bytes, raw, *bytes, level);
    if (ZSTD_isError(n))
        return err_set_code(err, ENOMEM, "zstd: %s", ZSTD_getErrorName(n));
    if (n >= *bytes)
        return 0;
    *bytes = n;
    return 1;
}

int chunk_append(struct chunk_file *file, struct chunk_new what, const void *raw, size_t bytes,
                 struct packer *packer, struct err *err)
{
    struct chunk chunk = {
        .kind = (uint16_t)what.kind, .sequence = what.sequence, .raw = bytes, .extra = what.extra};
    int packed = 0;

    if (bytes > CHUNK_MAX_BYTES)
        return err_set_code(err, EFBIG, "%s: a chunk of %zu bytes is too large", file->label,
                            bytes);
    if (what.level && (packed = pack(packer, what.level, raw, &bytes, err)) < 0)
        return -1;
    const void *stored = packed ? packer->room : raw;
    chunk.flags = packed ? CHUNK_ZSTD : 0;
    chunk_seal(&chunk, stored, bytes);
    struct iovec part[2] = {{&chunk, sizeof chunk}, {(void *)stored, bytes}};
    return append(file, part, err);
}
