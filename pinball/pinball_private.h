/* pinball_private.h - what pinball.c, missing.c, contents.c and check.c share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef PINBALL_PINBALL_PRIVATE_H
#define PINBALL_PINBALL_PRIVATE_H

#include "pinball/chunk.h"
#include "pinball/kept.h"
#include "pinball/pinball.h"
#include "pinball/recover.h"
#include "pinball/seal.h"
#include "pinball/store.h"
#include "pinball/text.h"

struct event_chunk {
    const struct span *span; /* pinball->events, or pinball->rest */
    uint64_t at;             /* of its header there */
    uint64_t raw, stored;    /* bytes and ... */
    uint64_t records, held;  /* ... records that are read, and that the chunk holds */
    uint64_t sum;            /* of what is stored */
};

/* The file of `files` that was last read from, and its chunk that was last unpacked. One of each
 * is enough: programs map files from begin to end. */
struct contents {
    struct member member;
    char sha256[SHA256_HEX]; /* "": none is open */
    enum kept_kind kind;
    uint64_t bytes;
    uint64_t *at; /* of the chunks' headers */
    uint64_t chunks;
    uint64_t unpacked; /* UINT64_MAX: none */
    char *data;        /* of it, KEPT_CHUNK_BYTES */
};

struct pinball {
    struct store *store;
    bool recovered;
    bool growing;     /* it is being recorded: no `end` yet, files may end within a chunk */
    struct seal seal; /* made: head and all entries have this user's */
    struct lines head, end, notes;
    struct recovery rescued; /* if in_memory: what the directory lacks */
    struct member events;
    struct span rest;                /* of events: what is in memory */
    const struct kept_file *missing; /* the log is cut off where it is mapped; NULL: it is not */
    struct event_chunk *chunk;
    uint64_t chunks, records;
    struct kept kept;
    struct contents contents;
    struct packer packer;
    uint64_t held, held_stored; /* bytes of files that may be held, and what they take on disk */
};

/* Reads what can change while a recording grows, that is all but the head; and forgets it. */
int pinball_take_all(struct pinball *pinball, struct err *err);
void pinball_drop_all(struct pinball *pinball);
/* `growing`: follow.h's way, if there is no end. */
struct pinball *pinball_open_as(const char *path, bool growing, struct err *err);

/* follow.c: leaves out a chunk at the end that is being written. */
void follow_trim(struct span *span);

/* Cuts the log off where the program maps a file that is not there. */
int missing_cut(struct pinball *pinball, struct err *err);

/* Makes pinball->contents those of a range. */
int contents_open(struct pinball *pinball, enum kept_kind kind, const struct kept_range *range,
                  struct err *err);
void contents_close(struct contents *contents);
/* Unpacks chunk i of the open contents into contents.data; *bytes of it. */
int contents_unpack(struct pinball *pinball, uint64_t i, size_t *bytes, struct err *err);

#endif
