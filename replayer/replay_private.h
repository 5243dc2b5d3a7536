/* replay_private.h - what the timeline needs of a replay: moments, scans, diversions.
 *
 * SPDX-License-Identifier: MIT
 *
 * In the words of mailbox.h. Only for replayer/.
 */
#ifndef REPLAYER_REPLAY_PRIVATE_H
#define REPLAYER_REPLAY_PRIVATE_H

#include <sys/types.h>

#include "replayer/mailbox.h"
#include "replayer/replay.h"

/* Runs until it stops, for whatever reason: replay_stopped(). -1: the process is gone. */
int replay_go(struct replay *replay, const struct mailbox_run *how, struct err *err);
const struct mailbox_stop *replay_stopped(const struct replay *replay);
/* After a stop that is STOP_EXEC: the next program, before its first instruction. -1: as it was. */
int replay_exec(struct replay *replay, struct err *err);
/* -1 with *err set if the last stop is a failure or divergence. */
int replay_failure(struct replay *replay, struct err *err);

/* struct mailbox_stops and what follows it. */
int replay_set_stops(struct replay *replay, const void *stops, size_t bytes, struct err *err);
/* Of a scan with a step_thread; room for MAILBOX_TRAIL. */
int replay_trail(struct replay *replay, struct mailbox_moment *out, size_t *count, struct err *err);

/* Is `thread` running now (0), over (1), or not made yet (-1)? *registers are its own if it runs.
 */
int replay_thread_state(struct replay *replay, uint32_t thread, struct replay_registers *registers,
                        int *state, struct err *err);
pid_t replay_pid(const struct replay *replay);
/* The process has ended, whoever did that: all that is asked of it fails with REPLAY_GONE. */
bool replay_gone(struct replay *replay);

/* The process leaves the log for good. */
int replay_divert(struct replay *replay, struct err *err);
int replay_set_registers(struct replay *replay, uint32_t thread,
                         const struct replay_registers *registers, struct err *err);

#endif
