/* living.h - a program that runs, is recorded, and obeys a debugger.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recorder is a process of its own, with a process group that it shares with the program; this
 * process is its parent. The program itself stops and obeys (live/target), through a mailbox. It
 * belongs to one thread.
 */
#ifndef LIVE_LIVING_H
#define LIVE_LIVING_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "debug/messages.h"
#include "debug/talk.h"
#include "logger/recorder.h"

struct living;

/* what->box_fd and what follows it are filled in here, but for ends_with_debugger. `io`: the
 * program's standard input, output and error. It has stopped before its first instruction. NULL
 * with *err set, whose code is 126 or 127 if the program cannot be run. */
struct living *living_start(const struct recording *what, const int io[3], struct err *err);
/* If the program is still there it is killed, unless living_leave() was called. NULL is allowed. */
void living_free(struct living *l);

/* The caller that waits for it. */
struct living_waiter {
    bool (*interrupted)(void *arg); /* asked now and then: shall it stop? NULL: no */
    void (*meanwhile)(void *arg); /* something else to do, until living_waits() is false; or NULL */
    void *arg;
};

/* Runs until it stops, and living_stopped() says why; or until it is over. -1: nothing is known of
 * it any more. */
int living_run(struct living *l, const struct mailbox_run *how, const struct living_waiter *waiter,
               struct err *err);
bool living_waits(struct living *l); /* it runs, and has not stopped */
void living_flush_soon(struct living *l);
const struct mailbox_stop *living_stopped(const struct living *l);

/* The program has ended, however it did: *status is as waitpid tells it. */
bool living_over(struct living *l, int *status);
pid_t living_pid(const struct living *l);   /* the program's */
pid_t living_group(const struct living *l); /* its process group */
const struct talk *living_talk(struct living *l);

/* What was recorded so far goes to the disk: soon there are so many records of the last part of the
 * run that has begun. */
struct living_log {
    uint64_t records;
    uint32_t begun, ended; /* parts; the last one is being recorded if it has not ended */
};
int living_flush(struct living *l, struct living_log *log, struct err *err);

/* The next part of the run begins here, or the one that is recorded ends. 1: it does; 0: it will
 * when the program goes on. */
int living_record(struct living *l, bool on, struct err *err);
/* Its standard input and output are this file from here on. */
int living_terminal(struct living *l, const char *path, struct err *err);
/* The program goes on without us. */
void living_leave(struct living *l);
void living_kill(struct living *l);

#endif
