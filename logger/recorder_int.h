/* recorder_int.h - the recorder's state, for logger/recorder.c and logger/part.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOGGER_RECORDER_INT_H
#define LOGGER_RECORDER_INT_H

#include <sys/types.h>

#include "logger/recorder.h"
#include "pinball/ring.h"

struct writer;
struct memory_walk;

/* A part of the run: how its begin is written (part.c). */
struct part {
    uint8_t *state; /* records of what is mapped, until memory is written */
    size_t state_bytes, state_room;
    struct memory_walk *walk; /* memory is being written; NULL: not now */
    pid_t twin;               /* it is read from there; 0: from the program */
    uint8_t *memory;          /* records that are not written yet */
    size_t memory_bytes;
    uint64_t memory_records, chunks, records; /* not written yet; written */
    struct held {
        uint8_t *records;
        size_t bytes;
        uint64_t count;
    } * held; /* segments that come behind the memory */
    size_t held_count;
    uint64_t held_bytes;
    bool begun; /* the memory is there, or on its way */
};

struct recorder {
    const struct recording *what;
    const char *dir;
    struct recorded *out; /* of the part that is recorded or waited for ... */
    uint32_t index;       /* ... which has this number, from 0 on */
    int wait_status;
    struct writer *writer;
    struct ring *ring;
    size_t ring_bytes;
    int ring_fd;
    uint64_t next;       /* sequence of the segment to write next */
    uint64_t pages_next; /* where the next check of memory begins */
    bool full;
    pid_t pid;
    uint64_t started; /* the program, by the monotonic clock in nanoseconds */
    struct part part;
    unsigned keys;            /* that have fired a trigger */
    struct ring_place *place; /* the answer that is being told */
    size_t places;
    bool closed;      /* the part is over, and its recording complete */
    uint32_t idle;    /* ring->idle, as seen ... */
    uint64_t idle_at; /* ... first at this time */
    bool hung;        /* what->hangs() was called */
};

/* The program, which waits, may look again. */
void recorder_answer(struct recorder *r);
/* The disk is full, or worse: what is written stays, the program goes on without us. */
void recorder_stop(struct recorder *r, const struct err *why);
/* Writes full segments in order; `last`: also the one that is being filled. */
int recorder_drain(struct recorder *r, bool last, struct err *err);
/* The file that the program asks about. -1: it cannot be opened. */
int recorder_open_wanted(struct recorder *r);

#endif
