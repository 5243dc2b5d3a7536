/* kept.h - the files that a recording keeps.
 *
 * SPDX-License-Identifier: MIT
 *
 * A kept file is what the program mapped, as it was then. Small files are kept whole, large ones as
 * the ranges that were mapped. The bytes of each range are a file `files/SHA256` of the pinball,
 * named by what it holds; equal ranges share one. `index` lists the kept files: a chunk for each,
 * and one more for every range that was added later.
 */
#ifndef PINBALL_KEPT_H
#define PINBALL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pinball/sha256.h"
#include "pinball/text.h"

enum { KEPT_CHUNK_BYTES = 1 << 20, BUILD_ID_HEX = 129, KEPT_ENTRY_MAX_BYTES = 64 << 10 };

enum kept_kind {
    KEPT_MAPPED, /* by the recorded program; what records refer to */
    KEPT_DEBUG,  /* added by pack: the separate debug information of build_id */
    KEPT_SOURCE, /* added by pack: a source file */
};

struct kept_range {
    uint64_t offset, bytes;  /* in the kept file */
    char sha256[SHA256_HEX]; /* of these bytes */
};

struct kept_file {
    uint32_t number; /* 0, 1, ... */
    enum kept_kind kind;
    bool whole;               /* one range covers all of it */
    uint64_t size;            /* of the file; what no range covers reads as zeros */
    const char *path;         /* where it was; of what has no name, what /proc shows for it */
    const char *build_id;     /* of an ELF file, in lower case hexadecimal; NULL: none */
    const char *waiting;      /* NULL, or the recorder died before it kept it: which file it was */
    struct kept_range *range; /* by offset, without overlaps */
    size_t ranges;
};

/* The list of them. {0} is an empty one. */
struct kept {
    struct kept_file **file;
    size_t files;
    size_t entries; /* chunks of `index` that it took */
};

/* Adds what the text of a chunk says: a new file, or ranges of one that is there. The text may be
 * anything. After the last one kept_sort() checks that ranges do not overlap. */
int kept_add(struct kept *kept, const char *text, size_t bytes, struct err *err);
int kept_sort(struct kept *kept, struct err *err);
void kept_deinit(struct kept *kept);

/* The text of a file, with ranges from the given one on. An entry that says `waiting` is followed
 * by one that does not when the contents are there. */
void kept_text(struct text *text, const struct kept_file *file, size_t first_range);

/* `files/SHA256`, or for what pack adds `debug/SHA256`, `sources/SHA256`. */
void kept_name(char *name, size_t room, enum kept_kind kind, const char *sha256);

/* The build-id of an open ELF file, or "". */
void kept_build_id(int fd, char build_id[BUILD_ID_HEX]);

#endif
