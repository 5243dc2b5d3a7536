/* writer_private.h - what writer.c and keep.c share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef PINBALL_WRITER_PRIVATE_H
#define PINBALL_WRITER_PRIVATE_H

#include <sys/stat.h>
#include <time.h>

#include "pinball/chunk.h"
#include "pinball/kept.h"
#include "pinball/seal.h"
#include "pinball/shelf.h"
#include "pinball/store.h"
#include "pinball/writer.h"

enum { IDENTITY_BYTES = 128 };

#define KEEP_TEMPORARY "new" /* in `files`: what is being written */

/* What tells whether a file has changed. */
struct identity {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec mtime, ctime;
};

struct keeping {
    struct identity id;
    bool trusted; /* the identity would tell of a change */
    struct kept_file file;
    char path[4096], build_id[BUILD_ID_HEX], identity[IDENTITY_BYTES];
    char *waiting;        /* contents that writer_keep_flush() will write */
    bool shelved;         /* ... which belong to the shelf */
    size_t waiting_bytes; /* of it */
};

struct writer {
    int dir, files; /* the directory and `files` in it */
    char *path;
    struct chunk_file events, index;
    bool in_memory; /* nothing can be written to the directory: see recover.h */
    int end;        /* then: what would be `end` */
    uint64_t chunks, entries;
    struct packer packer;
    struct seal seal;         /* for entries; recovery sets it to the recording's */
    bool unsealed;            /* the head gets none: what goes in is a stranger's */
    struct keeping **keeping; /* by number */
    size_t keepings;
    size_t first_waiting; /* number of the first one that may wait */
    size_t waiting_bytes;
    struct shelf *shelf; /* NULL: none */
    char events_label[STORE_NAME_BYTES + 256], index_label[STORE_NAME_BYTES + 256];
    char files_label[STORE_NAME_BYTES + 256];
};

void keep_deinit(struct writer *writer);

/* The identity of a file as text. */
void keep_identity(const struct stat *st, char text[IDENTITY_BYTES]);

/* Keeps what a recorder that was killed could not: the file is the same one. */
int keep_again(struct writer *writer, const struct kept_file *file, int fd, struct err *err);

#endif
