/* log.h - the event log, as the recorded program itself writes it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Runs inside the target. Records go to a sink (pinball/sink.h). The recorder's is the ring
 * (pinball/ring.h), a file of the pinball that is mapped here: what is committed survives the death
 * of the program and of the recorder. The recorder empties full segments. All calls need the baton.
 */
#ifndef LOGGER_TARGET_LOG_H
#define LOGGER_TARGET_LOG_H

#include "engine/rt/types.h"
#include "pinball/record.h"
#include "pinball/ring.h"
#include "pinball/sink.h"

void log_open(const struct sink *sink);
void log_leave(void); /* in a forked child: the log is not ours */

/* The recording is over, before the program is: nothing is kept any more. */
bool log_over(void);

/* A record of `bytes`, zeroed beyond its header; the caller fills it in and then commits it. Never
 * NULL; after the end it is memory that nobody reads. */
void *log_begin(enum record_kind kind, uint64_t bytes);
/* The same with the time behind its fixed part, which is all of it. */
void *log_begin_timed(enum record_kind kind, uint64_t bytes);
void log_commit(void);
void log_break(void); /* what was committed is the recorder's; the next record begins a segment */
void log_end(void);
struct sink_writer *log_writer(void);
void log_shorten(uint64_t bytes); /* the record begun is only so long */

/* Bytes of the target's memory, as RECORD_DATA, in as many records as it takes. Stops at the first
 * byte that cannot be read. */
void log_data(gaddr addr, uint64_t bytes, uint8_t flags);

/* ---- the ring, and the recorder behind it: of a log that goes there ---- */

const struct sink *log_ring_open(int fd);
struct ring *log_ring(void);
uint64_t log_records(void); /* committed so far */
int log_again(void);        /* a descriptor for the next program of this process; negative: none */

bool log_recorder_lives(void);
/* Now and then: ends the recording if the recorder is gone. */
void log_look_after(void);

/* A system call of the thread is over. */
struct thread;
void log_last(const struct thread *t);
/* For the recorder to see: session->idle(). */
void log_idle(bool all);

/* Has the recorder keep a file (KEEP_ASKED) or list pages (KEEP_PAGES): fills ring->keep's answer.
 * The request is in ring->keep. */
void log_ask(uint32_t what);
/* The same where no log is open: before a part of the run that is to be recorded, and after one.
 * False: the recorder is gone. */
bool log_ask_outside(uint32_t what);
/* Waits until the recorder is ready for a part. False: it is gone. */
bool log_await_part(uint32_t part);
/* Waits until the memory of a part that has begun is written. False: it is gone. */
bool log_await_memory(void);

#endif
