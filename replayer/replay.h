/* replay.h - replay a pinball: run to positions, look at everything there.
 *
 * SPDX-License-Identifier: MIT
 *
 * The program is replayed in a process of its own, confined so that it can reach nothing
 * (replayer/target); this side feeds it and asks it. A replay belongs to one thread. What the
 * program writes to standard output and error is passed to a function of the caller's.
 *
 *     r = replay_new(pinball, &options, &err);       stopped before the first instruction
 *     replay_run(r, NULL, &stop, &err);              to the end
 */
#ifndef REPLAYER_REPLAY_H
#define REPLAYER_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/position.h"
#include "debug/program.h"
#include "debug/stop.h"

struct pinball;
struct replay;
struct mailbox_entry;

/* err->code */
enum {
    REPLAY_DIVERGED = 3, /* the execution is not the recorded one */
    REPLAY_GONE = 64,    /* the replaying process has ended; another one may get farther */
};

struct replay_options {
    void (*output)(void *arg, int fd, const void *bytes, size_t n); /* NULL: dropped */
    void *arg;
    void (*message)(void *arg, const char *line); /* the runtime's own words; NULL: dropped */
    /* What the program does, in the words of messages.h; NULL: not wanted. False: it was known, and
     * its output is not to appear again. */
    bool (*entry)(void *arg, const struct mailbox_entry *entry, const void *text);
    uint64_t tell; /* which of them replay_run() tells: RUN_OUTPUT, RUN_EVENTS, RUN_SWITCHES */
    /* A trace, in the words of flow.h, while the tool "flow" is on: pieces of both streams,
     * private copies, each note checked by flow_note_check(). -1 with *err set ends the replay.
     * NULL: not wanted. */
    int (*flow)(void *arg, const void *words, size_t words_bytes, const void *notes,
                size_t notes_bytes, struct err *err);
    /* The state, when replay_state() asks for it: whole records (pinball/records.h). NULL: not
     * wanted. */
    int (*records)(void *arg, const void *records, size_t bytes, struct err *err);
    /* What probes took (probes.h): whole rows, a private copy, each checked by probe_check_row().
     * -1 ends the replay, with *err set or not. NULL: not wanted. */
    int (*rows)(void *arg, const void *rows, size_t bytes, struct err *err);
    /* Asked while it runs, now and then: shall it stop? Then replay_run() returns with STOP_PAUSED.
     * NULL: no. */
    bool (*pause)(void *arg);
    bool verify;        /* check memory, too */
    bool copies;        /* replay_copy() will be used */
    const char *engine; /* engine options; NULL: none */
};

struct replay_stop {
    enum stop_kind why; /* STOP_BEGIN, STOP_POSITION, STOP_PAUSED, STOP_END, STOP_LOG_END */
    struct position at;
    uint32_t reason; /* STOP_END: enum end_reason (pinball/end_reason.h) */
    int32_t status;
    uint64_t ticks, events; /* so far, of all threads */
};

/* NULL with *err set; code REPLAY_DIVERGED never. A CPU that lacks what the recording used is found
 * here. */
struct replay *replay_new(struct pinball *pinball, const struct replay_options *options,
                          struct err *err);
void replay_free(struct replay *replay); /* NULL is allowed */

/* Runs on, to `until` if that comes (NULL: to the end). -1: err->code REPLAY_DIVERGED, REPLAY_GONE,
 * or 0 for a pinball that cannot be replayed. */
int replay_run(struct replay *replay, const struct position *until, struct replay_stop *stop,
               struct err *err);

/* State, while stopped. Thread 0 is the running one. */
int replay_registers(struct replay *replay, uint32_t thread, struct program_registers *out,
                     struct err *err);
/* Returns how many bytes could be read, from the first on. */
size_t replay_read(struct replay *replay, uint64_t addr, void *out, size_t bytes);
/* The live threads' numbers; returns how many there are, which may be more than room. */
size_t replay_threads(struct replay *replay, struct program_thread *out, size_t room);
size_t replay_maps(struct replay *replay, struct program_map *out, size_t room);

/* Instrumentation (tools of engine/core/tools.c, and flow: NAME+NAME...) from here on; NULL: off.
 */
int replay_tool(struct replay *replay, const char *name, struct err *err);

/* A throw-away copy at the same position: runs and is changed on its own. Needs options.copies. */
struct replay *replay_copy(struct replay *replay, struct err *err);
size_t replay_write(struct replay *copy, uint64_t addr, const void *bytes, size_t n);

/* Which way a branch goes if memory has other bytes: a copy leaves the log, and its running thread
 * goes on alone until it has executed the branch. */
enum { REPLAY_ATTEMPT_STEPS = 256 };
struct replay_attempt {
    uint64_t addr, value; /* the lowest address in the lowest byte */
    uint32_t bytes;       /* at most 8; 0: nothing is changed */
    uint32_t thread;      /* that runs now */
    unsigned steps;       /* instructions at most */
    uint64_t branch;
};
/* *next is where the thread was behind the branch; 0: it did not come there. Needs options.copies.
 */
int replay_attempt(struct replay *replay, const struct replay_attempt *a, uint64_t *next,
                   struct err *err);

#endif
