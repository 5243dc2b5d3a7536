/* ring.h - the file `ring` of a pinball: there only while the program runs.
 *
 * SPDX-License-Identifier: MIT
 *
 * The program writes its log here and the recorder empties it; it is a mapped file, so that it
 * outlives both (recover.h). Included by code inside the target and outside; no libc.
 */
#ifndef PINBALL_RING_H
#define PINBALL_RING_H

#include <stdint.h>

#include "pinball/trigger.h"

#define RING_MAGIC 0x474e4952u /* "RING" */

enum { RING_SEGMENTS = 8, RING_HEAD_BYTES = 8192 };

enum segment_state { SEGMENT_FREE, SEGMENT_FILLING, SEGMENT_FULL };

struct ring_segment {
    uint64_t sequence;  /* of the chunk that it will be */
    uint64_t committed; /* bytes of whole records */
    uint64_t records;
    uint32_t state, pad;
};

/* A request of the target to the recorder: keep the file behind descriptor or path; or list the
 * pages that the program has written; or read [offset, offset + bytes) of a file into path (the
 * recorder can do so without taking a descriptor of the program's); or tell whether another process
 * maps, shared and writable, what is mapped shared here; or write the memory that the mappings of
 * the full segments hold. */
enum { KEEP_IDLE, KEEP_ASKED, KEEP_PAGES, KEEP_READ, KEEP_DONE, KEEP_SHARED, KEEP_MEMORY };

enum { RING_PAGES = 254 };

struct ring_pages {
    uint64_t start, bytes;
};

enum ring_warning {
    WARN_SHARED_MEMORY = 1, /* another process may write the program's memory unseen */
    WARN_UNSEEN_WRITE = 2,  /* a mapped file was changed in a way that was not kept */
};

/* What the recorder's own standard output and error are, and its terminal. */
struct ring_outputs {
    struct {
        uint64_t dev, ino;      /* 0: not open */
        uint32_t terminal, pad; /* number of the device, 0: it is none */
    } file[2];
    uint32_t terminal, pad; /* that controls it, 0: none */
};

/* How far the recording has come. If it ends without RECORD_END, nothing else may tell that. */
struct ring_last {
    uint64_t ticks;       /* of all threads, when a segment was full or the log ended */
    uint64_t count, pc;   /* of the thread that made the last system call, there */
    uint32_t thread, pad; /* its number, 0: none yet */
};

struct ring {
    uint32_t magic, version;
    uint64_t segment_bytes;
    uint32_t bell;   /* futex: the target has work for the recorder */
    uint32_t answer; /* futex: the recorder has answered */
    uint32_t stop;   /* recorder to target: enum end_reason, end the recording */
    int32_t stop_status;
    uint32_t target_done; /* the target logged RECORD_END or stopped recording */
    int32_t recorder;     /* its process id ... */
    int32_t fd;           /* ... and its descriptor of this file */
    int32_t box_fd;       /* with a debugger: the recorder's descriptor of the mailbox; 0: none */
    uint32_t lost;        /* 1: the debugger is gone, and the program goes on without it */
    uint32_t paused;      /* 1: the recorder has stopped with the target; SIGCONT wakes it */
    struct ring_segment segment[RING_SEGMENTS];
    uint64_t isa;      /* instruction-set extensions met so far: engine/x86/isa.def */
    uint32_t warnings; /* enum ring_warning bits */
    uint32_t idle;     /* odd: all threads wait for one another; 1 more at each change */
    struct {
        uint32_t state;
        int32_t fd;             /* of the target, or -1: by path */
        uint64_t dev, ino;      /* the path must lead to this */
        uint64_t offset, bytes; /* what is mapped */
        uint32_t file;          /* answer: its number, or MAP_FILE_NONE */
        uint32_t pad;
        uint64_t size; /* answer: of the file; how many pages[] there are */
        union {
            char path[4096];
            struct ring_pages pages[RING_PAGES]; /* answer; not those in [offset, offset + bytes) */
        };
    } keep;
    struct ring_outputs outputs;
    struct trigger_region region; /* which part is to be recorded; from.kind 0: all */
    struct ring_last last;
    uint64_t records; /* of the segments before the one that is being filled */
    /* segments follow at RING_HEAD_BYTES */
};

_Static_assert(sizeof(struct ring) <= RING_HEAD_BYTES, "ring");

#endif
