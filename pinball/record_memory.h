/* record_memory.h - the records about memory: what is mapped, and its bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * Part of record.h, which others include.
 */
#ifndef PINBALL_RECORD_MEMORY_H
#define PINBALL_RECORD_MEMORY_H

#include "pinball/record_head.h"

/* Followed by RECORD_MAP and RECORD_DATA, then RECORD_START. */
struct record_image {
    struct record r;
    uint64_t base, bytes, reserved; /* the runtime's: it owns [reserved, base + bytes) */
    uint32_t thread, pad;           /* the first thread's number */
};

enum { MAP_FILE_NONE = 0xffffffff };

/* flags of RECORD_MAP after the initial state. What a memory call did before it failed: nothing is
 * mapped there now; it has `prot`; madvise took its pages. Or: if private, it shows `object` */
enum { PARTLY_GONE = 1, PARTLY_PROT = 2, PARTLY_EMPTY = 3, PARTLY_OBJECT = 4 };
/* ... and of a state that is told in the middle of a run: the object is not filled from its file,
 * since all that it holds was told before. */
enum { MAP_AS_IS = 5 };

struct record_map {
    struct record r;
    uint64_t start, bytes;
    uint32_t prot, flags; /* as for mmap */
    uint32_t file;        /* number of a kept file, MAP_FILE_NONE: anonymous */
    uint32_t object;      /* shared memory with this number, 0: private */
    uint64_t offset;      /* in the file or object */
    uint64_t size;        /* of the file or object then */
};

/* flags of RECORD_DATA */
enum { DATA_AFTER = 1 /* belongs to the call before it, not to the next one */ };

struct record_data {
    struct record r;
    uint64_t addr, bytes; /* bytes of data follow, padded with zeros to 8 */
};

/* flags of RECORD_SIZE. The old end was inside a page: there, the bytes behind it are zeros now.
 * Else they are as they were, whatever the kernel of a replay does when a file grows. */
enum { SIZE_CLEARS = 1 };

/* Belongs to the system call that follows. */
struct record_size {
    struct record r;
    uint32_t object, pad;
    uint64_t size;
};

/* Likewise: the call wrote to a file that is mapped. */
struct record_object {
    struct record r;
    uint32_t object, pad;
    uint64_t offset, bytes; /* bytes of data follow, padded with zeros to 8 */
};

struct record_range {
    struct record r;
    uint64_t start, bytes;
};

struct memory_sum {
    uint64_t start, bytes, hash;
};

struct record_memory {
    struct record r;
    struct record_at at;
};

#endif
