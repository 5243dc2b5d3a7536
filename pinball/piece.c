/* piece.c - write the contents of a kept file: a file of `files`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/piece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEVEL = -1
}; /* of zstd; 2 takes twice the time for 16 % less of libc, and short programs wait */

void piece_init(struct piece *piece, int fd, const char *label)
{
    *piece = (struct piece){.file = {.fd = fd, .label = label}};
    sha256_init(&piece->sha);
}

int piece_add(struct piece *piece, const void *data, size_t bytes, struct packer *packer,
              struct err *err)
{
    struct chunk_new what = {
        .kind = CHUNK_FILE, .level = LEVEL, .sequence = piece->chunks, .extra = piece->bytes};

    if (chunk_append(&piece->file, what, data, bytes, packer, err))
        return -1;
    sha256_add(&piece->sha, data, bytes);
    piece->chunks++;
    piece->bytes += bytes;
    return 0;
}

int piece_read_fd(int fd, uint64_t offset, void *data, size_t *bytes)
{
    size_t got = 0;

    while (got < *bytes) {
        ssize_t n = pread(fd, (char *)data + got, *bytes - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    *bytes = got;
    return 0;
}

int piece_copy(struct piece *piece, int fd, struct kept_range *range, struct packer *packer,
               struct err *err)
{
    size_t n = KEPT_CHUNK_BYTES;
    int bad = 0;
    char *data = malloc(KEPT_CHUNK_BYTES);

    if (!data)
        return err_set_code(err, ENOMEM, "%s: no memory", piece->file.label);
    while (!bad && n == KEPT_CHUNK_BYTES && piece->bytes < range->bytes) {
        if (range->bytes - piece->bytes < n)
            n = range->bytes - piece->bytes;
        int error = piece_read_fd(fd, range->offset + piece->bytes, data, &n);
        if (error)
            bad = err_set_code(err, error, "%s: %s", piece->file.label, strerror(error));
        else if (n > 0)
            bad = piece_add(piece, data, n, packer, err);
    }
    free(data);
    if (bad)
        return -1;
    range->bytes = piece->bytes;
    sha256_hex(&piece->sha, range->sha256);
    return 0;
}
