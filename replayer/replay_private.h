/* replay_private.h - what the timeline needs of a replay: moments, scans, diversions.
 *
 * SPDX-License-Identifier: MIT
 *
 * In the words of messages.h. Only for replayer/.
 */
#ifndef REPLAYER_REPLAY_PRIVATE_H
#define REPLAYER_REPLAY_PRIVATE_H

#include <sys/types.h>

#include "debug/messages.h"
#include "replayer/replay.h"

/* Runs until it stops, for whatever reason: replay_stopped(). -1: the process is gone. */
int replay_go(struct replay *replay, const struct mailbox_run *how, struct err *err);
/* Where to stop; NULL: nowhere. -1: a recording cannot have that position. */
int replay_goal(const struct position *at, struct mailbox_moment *goal, struct err *err);
const struct mailbox_stop *replay_stopped(const struct replay *replay);
/* After a stop that is STOP_EXEC: the next program, before its first instruction. -1: as it was. */
int replay_exec(struct replay *replay, struct err *err);
/* -1 with *err set if the last stop is a failure or divergence. */
int replay_failure(struct replay *replay, struct err *err);

/* struct mailbox_stops and what follows it. */
int replay_set_stops(struct replay *replay, const void *stops, size_t bytes, struct err *err);
/* For runs with RUN_FENCE; 1, or 0 if there cannot be one around these. */
int replay_fence(struct replay *replay, const struct mailbox_fence *fence, struct err *err);
/* The probes (probes.h), which must outlive the replay; rows come by options.rows from here on. */
struct probes;
int replay_probe(struct replay *replay, const struct probes *probes, struct err *err);
/* The trail of a scan with a step_thread; room for MAILBOX_TRAIL. */
int replay_trail(struct replay *replay, struct mailbox_moment *out, size_t *count, struct err *err);

/* Is `thread` running now (0), over (1), or not made yet (-1)? *registers are its own if it runs.
 */
int replay_thread_state(struct replay *replay, uint32_t thread, struct program_registers *registers,
                        int *state, struct err *err);
pid_t replay_pid(const struct replay *replay);
/* The process has ended, whoever did that: all that is asked of it fails with REPLAY_GONE. */
bool replay_gone(struct replay *replay);

/* What the process alone knows of the program's state, by options.records. Memory is to be read by
 * whom it may concern. */
int replay_state(struct replay *replay, enum mailbox_state what, struct err *err);
/* Where in the log the image of the program that runs is. */
void replay_image(const struct replay *replay, uint64_t *chunk, uint64_t *offset);

/* The process leaves the log for good. */
int replay_divert(struct replay *replay, struct err *err);
int replay_set_registers(struct replay *replay, uint32_t thread,
                         const struct program_registers *registers, struct err *err);

#endif
