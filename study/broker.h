/* broker.h - a study in a process that is confined, and the process that hands it what it needs.
 *
 * SPDX-License-Identifier: MIT
 *
 * A process that can reach nothing (base/confine.h) reads (libdw), follows and prints a stranger's
 * debug information. Its parent, the broker, reads none of it: the broker has the recording, opens
 * files and replays. The two speak over a socket, a question at a time. The child may have been
 * taken over: the broker takes questions of a fixed size, and opens only
 *   - files of the pinball, beneath its directory, for reading;
 *   - folders that the user named as those of sources, and files beneath them, for reading;
 *   - separate debug files in their usual place, and files that the recording mapped but does not
 *     hold, if they have the build-id that the recording says;
 *   - files that the user named for the result, for writing.
 */
#ifndef STUDY_BROKER_H
#define STUDY_BROKER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/position.h"

struct study;
struct broker; /* the child's side */

enum { BROKER_BYTES = 64 << 10, BROKER_NAME = 4096, BROKER_OUTPUTS = 8 };

enum broker_op {
    BROKER_NEW, /* a past.h; `kind`: enum past_kind; `flags`: what it tells */
    BROKER_FREE,
    BROKER_GO,
    BROKER_REGISTERS,
    BROKER_READ,
    BROKER_THREADS,
    BROKER_TRY,   /* `insn` in `bytes` bytes at `addr`, `kind` steps, the branch at `at.pc` */
    BROKER_MAPS,  /* from the one with number `addr` on */
    BROKER_WRITE, /* the last one to the memory at `addr`, of no replay: a struct writer_write */
    BROKER_LIST,  /* of probes: `kind` bytes in `name`, from byte `addr` on, of `bytes` */
    BROKER_PROBE, /* with the list: rows, then an answer; `from`, `at`: a window, thread 0: none */
    BROKER_TELL,  /* what the program does, as far as `at` (thread 0: to the end), then an answer */
    BROKER_ENOUGH, /* said while rows or events come, and not answered */
    BROKER_OPEN,   /* enum beneath_kind in `kind`; the folder's descriptor comes along */
    BROKER_OUTPUT  /* by its name */
};

struct broker_ask {
    uint32_t op, handle, thread, kind;
    uint32_t other; /* 1: it is about options->other */
    int32_t flags;
    uint64_t insn, addr, bytes;
    struct position at, from;
    char name[BROKER_NAME];
};

struct broker_options {
    const char *output[BROKER_OUTPUTS]; /* files that the user named for the result, or NULLs */
    struct study *other; /* that is compared with the first; NULL: none. Either is a stranger's:
                            both are looked at in the child */
};

/* Has `analyse` called: in this process if the recording is the user's own, else in a child that is
 * confined, which ends with the status that it returns. Returns that, or -1 with *err set: also if
 * the child was ended by a signal. The study must have its trace, and no source yet. */
int broker_run(struct study *s, const struct broker_options *options, int (*analyse)(void *arg),
               void *arg, struct err *err);
void broker_free(struct broker *b); /* NULL is allowed */

/* Asks. `got` (NULL: nothing is expected) gets the bytes of the answer in `out`. */
int broker_call(struct broker *b, struct broker_ask *what, void *out, size_t room, size_t *got,
                struct err *err);

/* Asks what is answered while a replay goes on: `some` gets whole rows or events in pieces, as they
 * are found, `told` how far the replay is. If one of them does not return 0 the replay stops, and
 * that is returned; `out` has the bytes of the last answer all the same. */
struct broker_stream {
    int (*some)(void *arg, const void *data, size_t bytes, struct err *err);
    int (*told)(void *arg, uint64_t ticks);
    void *arg;
};
int broker_listen(struct broker *b, struct broker_ask *what, const struct broker_stream *to,
                  void *out, size_t room, struct err *err);

/* Has the broker replay with probes (study/probe.h). */
struct broker_probing {
    const void *list; /* packed */
    size_t bytes;
    const struct position *from, *to;
    struct broker_stream rows;
};
int broker_probe(struct broker *b, const struct broker_probing *p, struct err *err);

/* past_tell(). */
struct past_telling;
struct replay_stop;
int broker_tell(struct broker *b, uint32_t handle, const struct position *until,
                const struct past_telling *how, struct replay_stop *stop, struct err *err);

/* fopen() for writing; by the broker, if there is one: NULL means none. */
FILE *broker_create(struct broker *b, const char *path, struct err *err);

#endif
