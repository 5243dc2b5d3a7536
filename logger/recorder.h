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
    void (*hangs)(void); /* called once when all threads wait for one another; NULL: not */
    /* One of many runs of a search: little is done for it before it is known to be kept. */
    const struct recording_trial *trial; /* NULL: it is none */
};

struct recording_trial {
    bool (*keeps)(void *arg, int wait_status); /* asked at the end; false: nothing is left */
    void *arg;
    uint64_t cpu_ns; /* the program is killed when it has used so much; 0: never */
};

struct recorded {
    int wait_status;        /* the program's, as waitpid tells it */
    struct summary summary; /* summary_deinit() is the caller's */
    uint32_t warnings;      /* enum ring_warning bits */
    bool begun, ended;      /* the part of the run */
    bool dropped;           /* a trial that was not kept */
    bool too_long;          /* ... was killed, because of trial->cpu_ns */
    bool stuck;             /* ... was killed, because all its threads wait for one another */
    uint64_t used_ns;       /* CPU time, of a trial */
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
