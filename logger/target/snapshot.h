/* snapshot.h - the target's memory: the initial state, and hashes of it later on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOGGER_TARGET_SNAPSHOT_H
#define LOGGER_TARGET_SNAPSHOT_H

#include "engine/core/thread.h"

/* Mappings and contents, then RECORD_START: before the first instruction. */
void snapshot_write(struct thread *t);

/* The same in the middle of a run, with the states of all threads; `heap` is where it begins. The
 * thread goes on in the log. */
void snapshot_part(struct thread *t, gaddr heap);

/* RECORD_MEMORY, when it is time for one or `now`. At a tick or the end, where a replay can look;
 * flags: BETWEEN. */
void snapshot_hash(struct thread *t, bool now, uint8_t flags);

/* Logs the pages of a file's private mapping that are not the file's any more. */
void snapshot_own_pages(gaddr start, gaddr end);

#endif
