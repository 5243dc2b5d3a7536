/* play.h - the replayer in the replaying process.
 *
 * SPDX-License-Identifier: MIT
 *
 * One kernel thread replays all threads of the program. No call here reaches anything outside the
 * process (confine.c sees to it), except through the mailbox.
 */
#ifndef REPLAYER_TARGET_PLAY_H
#define REPLAYER_TARGET_PLAY_H

#include "engine/core/thread.h"

void play_save(struct thread *t); /* the running one: what its registers hold is in its struct */
/* `to` has the registers; `from` was saved. */
void play_resume(struct thread *from, struct thread *to);
void play_become(struct thread *from, struct thread *to); /* another one has the registers */

#endif
