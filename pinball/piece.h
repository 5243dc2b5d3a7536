/* piece.h - write the contents of a kept file: a file of `files`.
 *
 * SPDX-License-Identifier: MIT
 *
 * Its bytes come in order, in any portions; the name they give is known at the end.
 */
#ifndef PINBALL_PIECE_H
#define PINBALL_PIECE_H

#include "base/err.h"
#include "pinball/chunk.h"
#include "pinball/kept.h"
#include "pinball/sha256.h"

struct piece {
    struct chunk_file file; /* fd and label are the caller's */
    struct sha256 sha;
    uint64_t chunks, bytes;
};

/* Begins in an empty file. */
void piece_init(struct piece *piece, int fd, const char *label);

/* Adds a chunk; all but the last are of KEPT_CHUNK_BYTES. */
int piece_add(struct piece *piece, const void *data, size_t bytes, struct packer *packer,
              struct err *err);

/* Adds [range->offset, + range->bytes) of a file, as much of it as there is, and sets the range's
 * bytes and name to it. */
int piece_copy(struct piece *piece, int fd, struct kept_range *range, struct packer *packer,
               struct err *err);

/* As much as there is: *bytes. Returns an errno or 0. */
int piece_read_fd(int fd, uint64_t offset, void *data, size_t *bytes);

#endif
