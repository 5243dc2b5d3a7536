/* replay_int.h - what the files of a replay share. SPDX-License-Identifier: MIT
 *
 * replay.c makes the process and is the interface, replay_talk.c serves it, replay_state.c looks at
 * it while it is stopped.
 */
#ifndef REPLAYER_REPLAY_INT_H
#define REPLAYER_REPLAY_INT_H

#include <stdbool.h>
#include <sys/types.h>

#include "debug/inbox.h"
#include "debug/messages.h"
#include "replayer/replay.h"

struct replay_files; /* replay_talk.c */

struct replay {
    struct pinball *pinball;
    struct replay_options options;
    struct replay_files *files;
    struct inbox *inbox;
    struct ward *ward; /* the process */
    struct mailbox_stop stop;
    uint64_t begun_chunk, begun_offset; /* in the log, of the program that runs */
    char tool[32];                      /* that is on; "": none */
    const struct probes *probes;        /* NULL: none; not ours */
    bool over;                          /* the process is gone */
};

/* ---- replay.c ---- */

/* What the last stop means; out may be NULL. -1: it is a failure or divergence. */
int replay_take_stop(struct replay *r, struct replay_stop *out, struct err *err);

/* ---- replay_talk.c ---- */

/* All kept files, one after the other in a descriptor; filled as they are asked for. Shared by all
 * replays that come from one replay_new(). */
struct replay_files *replay_files_new(struct err *err);
void replay_files_join(struct replay_files *f);
void replay_files_leave(struct replay_files *f); /* NULL is allowed */
int replay_files_fd(const struct replay_files *f);

/* Serves the process until it says `wanted`: TELL_STOP or TELL_DONE. If it stops instead of doing
 * what it was told, that is a failure, and *err says which. */
int replay_serve(struct replay *r, enum mailbox_ask wanted, struct err *err);
/* Gives an order and serves the process until that is done. */
int replay_command(struct replay *r, const struct inbox_order *order, struct err *err);

#endif
