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

#define RING_MAGIC 0x324e4952u /* "RIN2" */

enum { RING_SEGMENTS = 8, RING_HEAD_BYTES = 16384 };

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
 * the full segments hold, of the program's twin in `fd`, or of the program itself. */
enum {
    KEEP_IDLE,
    KEEP_ASKED,
    KEEP_PAGES,
    KEEP_READ,
    KEEP_DONE,
    KEEP_SHARED,
    KEEP_MEMORY,
    KEEP_PLACES, /* where names of triggers are in a file that is mapped at `file_at` */
    KEEP_LOADED, /* all files that the program begins with were asked about */
};

enum { RING_PAGES = 254, RING_PLACES = 128 };

struct ring_pages {
    uint64_t start, bytes;
};

/* A stub jumps to the function. It counts if the function is chosen at run time: then nobody else
 * knows where that is. PLACE_CHOSEN says so, and is no place. A place near the line that was asked
 * for counts as long as nobody has that line. */
enum ring_place_kind { PLACE_WHOLE, PLACE_STUB, PLACE_CHOSEN, PLACE_NEAR };

/* A place in the code that triggers mean. */
struct ring_place {
    uint64_t pc;
    uint64_t semaphore; /* the probe is passed by unless this is raised; 0: none */
    uint32_t trigger;   /* its number */
    uint32_t kind;      /* enum ring_place_kind */
};

enum ring_warning {
    WARN_SHARED_MEMORY = 1, /* another process may write the program's memory unseen */
    WARN_UNSEEN_WRITE = 2,  /* a mapped file was changed in a way that was not kept */
    WARN_STOOD_STILL = 4,   /* the program could not be copied: it waited for the recorder */
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

/* A part of a run begins with memory, whose chunks do not come from segments. */
enum ring_memory_state { MEMORY_NONE, MEMORY_BEGUN, MEMORY_WRITTEN };
struct ring_memory {
    uint32_t state, pad;      /* enum ring_memory_state */
    uint64_t chunks, records; /* when written */
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
        uint32_t skip;
        uint64_t size; /* answer: of the file; how many pages[] or places there are */
        union {
            char path[4096];
            struct ring_pages pages[RING_PAGES]; /* answer; not those in [offset, offset + bytes) */
            struct ring_place places[RING_PLACES]; /* answer, from the `skip`-th on */
        };
    } keep;
    struct ring_outputs outputs;
    struct trigger_region region; /* which parts are to be recorded */
    struct ring_last last;
    struct ring_memory memory;
    uint64_t records;    /* of the segments before the one that is being filled */
    uint64_t file_at;    /* KEEP_PLACES: where keep.offset of the file is mapped */
    uint32_t poke;       /* futex: the recorder has fired a trigger, for the sentry (sentry.h) */
    uint32_t generation; /* programs of the process so far */
    int32_t sentry, pad; /* its process id, 0: none */
    /* segments follow at RING_HEAD_BYTES */
};

_Static_assert(sizeof(struct ring) <= RING_HEAD_BYTES, "ring");

#endif
