/* derived.h - writes a recording that is made of another one by replaying it.
 *
 * SPDX-License-Identifier: MIT
 *
 * What a part of a recording (cut.h) and one with gaps (leave.h) have in common: a replay of the
 * old one, the new one's writer, the state that it begins with, and pieces of the old log as they
 * are.
 */
#ifndef REPLAYER_DERIVED_H
#define REPLAYER_DERIVED_H

#include "pinball/derive.h"
#include "pinball/record_gap.h"
#include "pinball/summary.h"
#include "replayer/replay_private.h"

struct derived {
    struct pinball *pinball;
    void (*message)(void *arg, const char *line); /* as in replay.h; may be NULL */
    void *arg;
    struct replay *replay;
    struct writer *writer;
    struct summary summary;
    uint8_t *state; /* records that the process told last */
    size_t state_bytes, state_room;
    uint8_t *out; /* records that are not written yet */
    size_t out_bytes;
    uint64_t out_records;
    bool anew;      /* lists of statements are not copied: there will be others */
    bool hears;     /* what the program writes is collected, and what gaps wrote is copied */
    uint8_t *heard; /* struct record_said each */
    size_t heard_bytes, heard_room;
    bool deaf;       /* no memory for that */
    uint64_t copied; /* records of the old log that were dealt with */
    uint8_t *chunk;  /* of the old log, the one with the next record to copy ... */
    uint64_t chunk_number, chunk_first, chunk_records, chunk_bytes; /* chunk_number: the next one */
    const struct record *next; /* ... which is this; NULL: it is in the next chunk */
    uint64_t next_number;
};

/* Begins a replay of the recording. derived_deinit() is to be called in any case. */
int derived_init(struct derived *d, struct pinball *pinball, struct err *err);
/* The new recording; `more` is for its head. */
int derived_create(struct derived *d, const char *dir, const struct text *more, struct err *err);
void derived_deinit(struct derived *d, bool keep); /* else the new recording is removed */

/* A record behind all others. The type suits memory_put(). */
int derived_put(void *derived, const struct record *r, struct err *err);
int derived_flush(struct derived *d, struct err *err);

/* Asks the process for a part of its state, which is then d->state. */
int derived_ask(struct derived *d, enum mailbox_state what, struct err *err);
int derived_put_state(struct derived *d, struct err *err); /* what was told, as it is */
/* The thread that runs, in what was told of threads. NULL with *err set. */
const struct record_state *derived_running(const struct derived *d, struct err *err);
/* The state where the replay is, as a recording begins with it. */
int derived_put_begin(struct derived *d, struct err *err);

/* Makes d->next the record number d->copied of the old log. 1, 0: there is none, -1. */
int derived_next(struct derived *d, struct err *err);
/* Records of the old log: all up to number `to`, counted from 0, or nothing of them but the ranges
 * that the runtime took. */
int derived_put_log(struct derived *d, uint64_t to, struct err *err);
int derived_pass_log(struct derived *d, uint64_t to, struct err *err);

/* The end of a recording that the program did not end with, where the replay is now. */
int derived_put_end(struct derived *d, uint64_t ticks, struct err *err);
/* Behind that: the statements that the old one was made of, as far as it goes. */
int derived_put_kept(struct derived *d, struct err *err);
/* It is complete. */
int derived_finish(struct derived *d, struct err *err);

#endif
