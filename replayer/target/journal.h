/* journal.h - what the program did, told to the supervisor. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_JOURNAL_H
#define REPLAYER_TARGET_JOURNAL_H

#include "debug/event.h"
#include "engine/core/thread.h"

void journal_run(uint64_t flags, uint64_t told_events);
/* What a, b and the text are by kind: debug/messages.h. */
struct journal_entry {
    enum event_kind kind;
    uint64_t number; /* of the record that it belongs to */
    gaddr pc;
    bool unfinished;
    int64_t a, b;
    const void *text;
    uint64_t bytes;
};
void journal_tell(const struct thread *t, const struct journal_entry *e);
/* The same at the present place of the log and of the thread. */
void journal_event(const struct thread *t, enum event_kind kind, int64_t a, int64_t b);
void journal_signal(const struct thread *t, const struct siginfo_raw *info);
void journal_exit(const struct thread *t, int status, bool killed);
void journal_mark(const struct thread *t, int64_t kind, const char *text, uint64_t bytes);
/* `t` does not go on, `to` does. */
void journal_switch(const struct thread *t, uint32_t to, int64_t why, const void *text,
                    uint64_t bytes);
/* False: not all of it is there. `to`: enum mailbox_output. */
bool journal_output(const struct thread *t, int to, int fd, gaddr from, uint64_t bytes);
bool journal_wants_calls(void);
void journal_flush(void);

#endif
