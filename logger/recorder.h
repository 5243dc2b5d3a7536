/* recorder.h - record a program's execution as a pinball.
 *
 * SPDX-License-Identifier: MIT
 *
 * The program runs as a child of this process, under the engine, and writes its log into a ring
 * that is a file of the pinball (logger/target). This process compresses what the ring holds, keeps
 * the files that the program maps, and waits for its end.
 */
#ifndef LOGGER_RECORDER_H
#define LOGGER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "pinball/summary.h"
#include "pinball/trigger.h"

struct recording {
    const char *dir; /* must not be there */
    const char *path;
    char *const *argv;
    const char *options;  /* engine options, "key=value,..."; NULL: none */
    const char *version;  /* of drdebug */
    const char *schedule; /* a strategy of engine/sched/schedules.def; NULL: the plain one */
    uint64_t seed;        /* the strategy's */
    const struct trigger_region *region; /* which part of the run; NULL: all of it */
    const char *from, *to;               /* ... in the user's words; NULL: none */
    bool stops;                          /* the program is ended with the part */
    bool again;                          /* another run may follow: group_pause() at the end */
    /* With a debugger (live/): the descriptor of the mailbox, 0: none; its process, this one's
     * parent, and whether the program is to end with it; whom to tell the program's process. */
    int box_fd;
    pid_t debugger;
    bool ends_with_debugger;
    void (*started)(void *arg, pid_t program);
    void *arg;
    void (*hangs)(void); /* called once when all threads wait for one another; NULL: not */
};

struct recorded {
    int wait_status;        /* the program's, as waitpid tells it */
    struct summary summary; /* summary_deinit() is the caller's */
    uint32_t warnings;      /* enum ring_warning bits */
    bool begun, ended;      /* the part of the run */
    struct err disk;        /* what ended the recording early; msg empty: nothing */
};

/* Returns 0 when the program has ended, however it did. -1: it was not started (err->code 126 or
 * 127 for the program's fault, as a shell has it); then nothing is left of the directory.
 * After 0 signals do not end this process (group.h), so that the caller can tell the end. */
int recorder_run(const struct recording *what, struct recorded *out, struct err *err);

/* Whether an err->code says that nothing can be written there, for no fault of the user's: the
 * program can do without its recording. */
bool recorder_no_room(int error);

#endif
