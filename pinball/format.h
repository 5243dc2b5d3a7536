/* format.h - what a pinball is made of, as bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/pinball.md describes the same for readers without a compiler. All numbers are little endian;
 * all structures are multiples of 8 bytes without hidden padding. Included by code inside the
 * target (logger/target, replayer/target) and outside; no libc.
 *
 * A change here or in record.h adds one to PINBALL_VERSION; a kind of record that may be skipped
 * does not. Older versions are read for good: 1 has no RECORD_OUTPUT, RECORD_PROCESS, RECORD_STATE,
 * RECORD_MARK, PARTLY_OBJECT, END_REGION; 2 has no RECORD_STOP,
 * RECORD_POKE, RECORD_GAP, MAP_AS_IS.
 */
#ifndef PINBALL_FORMAT_H
#define PINBALL_FORMAT_H

#include <stdint.h>

enum { PINBALL_VERSION = 3, PINBALL_OLDEST = 1 };

/* ---- chunks: everything on disk is a sequence of them ---- */

#define CHUNK_MAGIC 0x42507244u /* "DrPB" */

enum chunk_kind {
    CHUNK_HEAD = 1,   /* file `head`: text, what was recorded where */
    CHUNK_EVENTS = 2, /* file `events`: records */
    CHUNK_INDEX = 3,  /* file `index`: text, one kept file */
    CHUNK_FILE = 4,   /* file `files/SHA256`: bytes of it, at file offset `extra` */
    CHUNK_END = 5,    /* file `end`: text, how the recording ended */
    CHUNK_NOTE = 6,   /* file `notes`: text, what was learned later (instruction counts) */
    CHUNK_TRACE = 8,  /* a trace (trace/trace.h), which is no part of a pinball */
    CHUNK_SLICE = 9,  /* a slice that was kept: slices/NAME (slicer/report/saved.h), likewise */
    CHUNK_FACT = 10,  /* what was found out about a trace (study/kept.h), likewise */
    CHUNK_MEMBER = 7, /* a packed pinball: name of a file, `extra` bytes of which follow */
};

enum { CHUNK_ZSTD = 1, CHUNK_MAX_BYTES = 8 << 20 };

struct chunk {
    uint32_t magic;
    uint16_t version;
    uint16_t kind;     /* enum chunk_kind */
    uint32_t flags;    /* CHUNK_ZSTD: the payload is one zstd frame */
    uint32_t pad;      /* 0 */
    uint64_t sequence; /* 0, 1, ... in its file */
    uint64_t raw;      /* bytes of the payload when unpacked, at most CHUNK_MAX_BYTES */
    uint64_t stored;   /* bytes that follow this header */
    uint64_t extra;
    uint64_t sum;        /* XXH64 of the stored payload, seed 0 */
    uint64_t header_sum; /* XXH64 of the 56 bytes before, seed 0 */
};

_Static_assert(sizeof(struct chunk) == 64, "chunk");

#endif
