/* chunk.h - chunks of a pinball's files: append one, check and read one.
 *
 * SPDX-License-Identifier: MIT
 *
 * Reading trusts nothing: a header is checked as a whole, against what its place demands, before
 * any of its numbers is used. Messages are `LABEL: chunk N: CAUSE`. Only events and kept files are
 * compressed; all other chunks are stored as they are, so that what they cost in memory is on disk.
 */
#ifndef PINBALL_CHUNK_H
#define PINBALL_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pinball/format.h"

/* Whether a mistake was found in the bytes, not in reading them. */
enum { CHUNK_DAMAGED = -1000 }; /* err->code */

/* What unpacks and packs; {0} is an empty one. Reused from chunk to chunk. */
struct packer {
    void *in, *out; /* ZSTD_DCtx, ZSTD_CCtx */
    void *room;
    size_t room_bytes;
};

void chunk_deinit_packer(struct packer *packer);

/* ---- reading ---- */

/* Part of an open file. */
struct span {
    int fd;
    uint64_t offset, bytes;
    const char *label; /* for messages */
};

struct chunk_want {
    enum chunk_kind kind;
    uint64_t sequence;
};

/* Reads and checks the header at `at` (in the span): 1, or 0 if the span ends there, or -1. The
 * payload is then known to lie in the span, at `at` + sizeof *chunk, and its raw size to be at most
 * CHUNK_MAX_BYTES. The next header is at chunk_next(). */
int chunk_read(const struct span *span, uint64_t at, struct chunk_want want, struct chunk *chunk,
               struct err *err);
uint64_t chunk_next(uint64_t at, const struct chunk *chunk);

/* Reads a chunk's payload, checks its sum and unpacks it into chunk->raw bytes. */
int chunk_unpack(const struct span *span, uint64_t at, const struct chunk *chunk, void *out,
                 struct packer *packer, struct err *err);

/* `LABEL: chunk N: CAUSE` with code CHUNK_DAMAGED; -1. */
int chunk_damaged(const struct span *span, uint64_t sequence, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* All of pread(), or -1 with *err set. */
int chunk_pread(const struct span *span, uint64_t at, void *out, size_t bytes, struct err *err);

/* ---- writing ---- */

struct chunk_file {
    int fd;
    uint64_t bytes; /* of whole chunks: where the next one goes */
    const char *label;
};

struct chunk_new {
    enum chunk_kind kind;
    int level; /* of compression, 0: none */
    uint64_t sequence, extra;
};

/* Appends a chunk. On failure err->code is the errno, and the file ends with its last whole chunk.
 */
int chunk_append(struct chunk_file *file, struct chunk_new what, const void *raw, size_t bytes,
                 struct packer *packer, struct err *err);

/* Appends bytes that are chunks already. */
int chunk_append_bytes(struct chunk_file *file, const void *data, size_t bytes, struct err *err);

/* Fills in magic, version and sums, and the stored size; `stored` are the bytes that follow. */
void chunk_seal(struct chunk *chunk, const void *stored, size_t bytes);

#endif
