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

/* A file with code that the program has mapped. */
struct recording_module {
    const char *path;    /* as the program has it */
    int fd;              /* to read it */
    uint64_t start, end; /* it is mapped there ... */
    uint64_t offset;     /* ... from here on */
};

struct ring_place;

struct recording {
    const char *const *dir; /* one for each part; must not be there */
    const char *path;
    char *const *argv;
    const char *options;  /* engine options, "key=value,..."; NULL: none */
    const char *version;  /* of drdebug */
    const char *schedule; /* a strategy of engine/sched/schedules.def; NULL: the plain one */
    uint64_t seed;        /* the strategy's */
    const struct trigger_region *region; /* which parts of the run; NULL: all of it */
    const char *const *from, *const *to; /* ... in the user's words; NULL: none, or all are */
    bool stops;                          /* the program is ended with the last part */
    /* Which places of a module triggers mean: fills in at most `room`, returns how many there are.
     */
    size_t (*places)(void *arg, const struct recording_module *module, struct ring_place *out,
                     size_t room);
    void (*loaded)(void *arg); /* all modules that the program begins with were asked about */
    void *arg;
    bool again; /* another run may follow: group_pause() at the end */
    /* With a debugger (live/): the descriptor of the mailbox, 0: none; its process, this one's
     * parent, and whether the program is to end with it; whom to tell the program's process. */
    int box_fd;
    pid_t debugger;
    bool ends_with_debugger;
    void (*started)(void *arg, pid_t program);
    void (*hangs)(void); /* called once when all threads wait for one another; NULL: not */
    /* One of many runs of a search: little is done for it before it is known to be kept. */
    const struct recording_trial *trial; /* NULL: it is none */
};

struct recording_trial {
    bool (*keeps)(void *arg, int wait_status); /* asked at the end; false: nothing is left */
    void *arg;
    uint64_t cpu_ns;     /* the program is killed when it has used so much; 0: never */
    struct shelf *shelf; /* files that runs before it have read (pinball/shelf.h); NULL: none */
};

struct recorded {
    int wait_status;        /* the program's, as waitpid tells it; in the first one */
    struct summary summary; /* summary_deinit() is the caller's */
    uint32_t warnings;      /* enum ring_warning bits */
    bool made;              /* there is a directory */
    bool begun, ended;      /* the part of the run */
    bool begin_lost;  /* ... and what it begins with could not be written: it is no recording */
    bool dropped;     /* a trial that was not kept */
    bool too_long;    /* ... was killed, because of trial->cpu_ns */
    bool stuck;       /* ... was killed, because all its threads wait for one another */
    uint64_t used_ns; /* CPU time, of a trial */
    struct err disk;  /* what ended the recording early; msg empty: nothing */
};

/* `out` has one for each part of the run, or one. Returns 0 when the program has ended, however it
 * did. -1: it was not started (err->code 126 or 127 for the program's fault, as a shell has it);
 * then nothing is left of the directory. After 0 signals do not end this process (group.h), so that
 * the caller can tell the end. */
int recorder_run(const struct recording *what, struct recorded *out, struct err *err);
/* The part's directory, from 1 on: NAME.PART.pinball of NAME.pinball. The caller's to free. */
char *recorder_part_name(const char *dir, unsigned part);
/* How many there are in `out`. */
size_t recorder_parts(const struct recording *what);

/* Whether an err->code says that nothing can be written there, for no fault of the user's: the
 * program can do without its recording. */
bool recorder_no_room(int error);

#endif
