/* journal.h - what the program did, told to the supervisor. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_JOURNAL_H
#define REPLAYER_TARGET_JOURNAL_H

#include "debug/event.h"
#include "engine/core/thread.h"

void journal_run(uint64_t flags, uint64_t told_events);
void journal_event(const struct thread *t, enum event_kind kind, int64_t a, int64_t b);
/* False: not all of it is there. */
bool journal_output(const struct thread *t, int fd, gaddr from, uint64_t bytes);
void journal_flush(void);

#endif
