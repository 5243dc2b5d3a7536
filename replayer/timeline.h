/* timeline.h - walk a replay forwards and backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * A timeline is one recording and a place in it, `now`. It moves by running forwards to the next
 * thing that is asked for, or backwards to the last one before now. Going back means: a copy of an
 * earlier replaying process (a checkpoint) runs forwards to where it is wanted. Checkpoints are
 * made and dropped by the timeline itself, within a limit of memory.
 *
 *     t = timeline_new(pinball, &options, &err);     now: before the first instruction
 *     timeline_stops(t, &stops, &err);               what continue and back look for
 *     timeline_continue(t, &stop, &err);
 *     timeline_back(t, &stop, &err);
 *
 * A timeline belongs to one thread. Moves return 0 with *stop filled; -1 with *err set, where code
 * REPLAY_DIVERGED says that the replay is not the recorded run; now is then where it was, if it can
 * be. What the program writes is passed to options.output the first time it is executed.
 */
#ifndef REPLAYER_TIMELINE_H
#define REPLAYER_TIMELINE_H

#include "replayer/replay.h"

struct timeline;

struct timeline_options {
    void (*output)(void *arg, int fd, const void *bytes, size_t n); /* NULL: dropped */
    void (*message)(void *arg, const char *line);                   /* NULL: dropped */
    bool (*interrupted)(void *arg); /* asked several times a second while something runs */
    void *arg;
    const char *engine;    /* engine options; NULL: none */
    uint64_t memory_bytes; /* for checkpoints; 0: a quarter of the machine's */
};

/* NULL with *err set. */
struct timeline *timeline_new(struct pinball *pinball, const struct timeline_options *options,
                              struct err *err);
void timeline_free(struct timeline *timeline); /* NULL is allowed */

/* ---- what to stop at ---- */

enum timeline_watch_kind { WATCH_WRITE = 1, WATCH_READ = 2, WATCH_ACCESS = 3 };

struct timeline_watch {
    uint64_t addr;
    uint32_t bytes; /* 1 to 4,096 */
    enum timeline_watch_kind kind;
};

/* A breakpoint is a hit if it has no conditions, or one of them is not zero. A condition is a GDB
 * agent expression; several are placed one after the other, each with its length before it. */
struct timeline_break {
    uint64_t pc;
    const uint8_t *conditions; /* {uint32_t bytes; bytes...}... */
    uint32_t condition_bytes;  /* 0: none */
};

enum { TIMELINE_CALLS = 1024, TIMELINE_SIGNALS = 65, TIMELINE_WATCHES = 16 };

struct timeline_stops {
    const struct timeline_break *breaks;
    size_t break_count; /* at most 10,000 */
    struct timeline_watch watches[TIMELINE_WATCHES];
    size_t watch_count;
    bool calls;                              /* stop at system calls: ... */
    uint8_t call_wanted[TIMELINE_CALLS / 8]; /* ... at these */
    uint8_t signal_wanted[TIMELINE_SIGNALS]; /* stop before their delivery, if not 0 */
    uint32_t only; /* thread: others' stops are passed, its begin and end are stops; 0: none */
};

/* Replaces all there were. Cheap if little has changed. What it points to is copied. */
int timeline_stops(struct timeline *timeline, const struct timeline_stops *stops, struct err *err);

/* ---- moving ---- */

enum timeline_why {
    TIMELINE_POSITION,     /* where a goto was to go; also after timeline_new */
    TIMELINE_STEP,         /* the step is done */
    TIMELINE_BREAK,        /* before the instruction at a breakpoint */
    TIMELINE_WATCH,        /* forwards: after the access; backwards: before it. addr, watch_kind */
    TIMELINE_CALL_ENTRY,   /* at the system call `call` */
    TIMELINE_CALL_RETURN,  /* behind it */
    TIMELINE_SIGNAL,       /* `signal` is about to be delivered, or to end the program */
    TIMELINE_EXEC,         /* another program begins (forwards) or is back (backwards) */
    TIMELINE_BEGIN,        /* the recording begins here; nothing is before */
    TIMELINE_END,          /* the recording ends here: reason, status (pinball/record.h) */
    TIMELINE_THREAD_BEGIN, /* ... a thread, whose stops alone count, backwards */
    TIMELINE_THREAD_END,   /* ... forwards: it is about to end */
    TIMELINE_INTERRUPTED,
};

struct timeline_stop {
    enum timeline_why why;
    struct position at;
    uint64_t ticks, events; /* so far, of all threads */
    uint64_t addr;          /* TIMELINE_WATCH: the watched range's */
    enum timeline_watch_kind watch_kind;
    int signal;
    long call;
    uint32_t reason; /* enum end_reason; 0: the recording was cut off here */
    int32_t status;
    uint8_t siginfo[128]; /* TIMELINE_SIGNAL */
};

/* The last stop. */
const struct timeline_stop *timeline_now(const struct timeline *timeline);

/* Runs on to the next stop. What is at now itself does not count. */
int timeline_continue(struct timeline *t, struct timeline_stop *stop, struct err *err);
/* Back to the last stop before now. */
int timeline_back(struct timeline *t, struct timeline_stop *stop, struct err *err);

/* Until `thread` (0: the one of now) has executed an instruction and is outside [low, high);
 * the recorded schedule decides what others do meanwhile. Other stops end it, too. */
int timeline_step(struct timeline *t, uint32_t thread, uint64_t low, uint64_t high,
                  struct timeline_stop *stop, struct err *err);
/* To before the last instruction that `thread` has executed. */
int timeline_step_back(struct timeline *t, uint32_t thread, struct timeline_stop *stop,
                       struct err *err);

/* The same for somebody who will step back again wherever it stops on one of `edges` (sorted by pc
 * and next, at most TIMELINE_EDGES): pairs of instructions that the thread executed one after the
 * other. As far as it has executed nothing else, turns of a loop are left out: it stops where one
 * begins that is like the one now, with the same instruction executed next. Other stops end it. */
struct timeline_edge {
    uint64_t pc, next;
};
enum { TIMELINE_EDGES = 1024 };
int timeline_loop_back(struct timeline *t, uint32_t thread, const struct timeline_edge *edges,
                       size_t count, struct timeline_stop *stop, struct err *err);

/* Regardless of stops. A position that the recording does not have is an error, and now is where it
 * was. */
int timeline_goto(struct timeline *t, const struct position *to, struct timeline_stop *stop,
                  struct err *err);
int timeline_goto_begin(struct timeline *t, struct timeline_stop *stop, struct err *err);
int timeline_goto_end(struct timeline *t, struct timeline_stop *stop, struct err *err);
/* By ticks of all threads, from the recording's begin. */
int timeline_goto_ticks(struct timeline *t, uint64_t ticks, struct timeline_stop *stop,
                        struct err *err);
/* Is it before (-1), at (0) or behind (1) now? */
int timeline_compare(struct timeline *t, const struct position *to, int *order, struct err *err);

/* ---- the state at now ---- */

/* For the state functions of replay.h: registers, memory, threads, maps. Valid until the next move.
 * In a diversion it is the diversion. */
struct replay *timeline_replay(struct timeline *timeline);

struct timeline_program { /* that runs now; valid until the next move */
    const char *path;
    int32_t pid;
    const uint8_t *auxv;
    size_t auxv_bytes;
    uint64_t instructions; /* of the whole recording; 0: they were not counted (verify --count) */
};
void timeline_program(struct timeline *timeline, struct timeline_program *out);

/* Files of the recorded machine that are kept with the pinball; by path, with symbolic links of the
 * recorded machine not followed. Returns a number, -1: there is none, or it is not kept whole. */
int timeline_file_find(struct timeline *timeline, const char *path, uint64_t *size);
int timeline_file_read(struct timeline *timeline, int file, uint64_t offset, void *out,
                       size_t bytes, struct err *err);
/* A separate debug file of this machine, by its path: beside a kept file of a recording that was
 * made here, or below /usr/lib/debug. A descriptor with *size, or -1. Whether it is the right one
 * the debugger can tell. */
int timeline_debug_file(struct timeline *timeline, const char *path, uint64_t *size);
/* Its path; NULL past the last one. */
const char *timeline_file_path(struct timeline *timeline, int file);

/* ---- what happened, as far as it was executed once ---- */

enum timeline_event_kind {
    EVENT_CALL = 1, /* a system call: call, result */
    EVENT_SIGNAL,   /* signal */
    EVENT_THREAD,   /* a thread begins: `thread` is its own */
    EVENT_OUTPUT,   /* fd, text */
    EVENT_EXEC,
    EVENT_EXIT, /* a thread ends */
};

struct timeline_event {
    enum timeline_event_kind kind;
    struct position at;
    uint64_t number;      /* of events of the log before it: grows */
    int64_t call, result; /* EVENT_SIGNAL: call is the signal; EVENT_OUTPUT: the descriptor */
    const uint8_t *text;  /* EVENT_OUTPUT */
    size_t text_bytes;
};

/* All of them in order: 1 with *event, valid until the next move; 0 after the last. *place starts
 * as 0. */
int timeline_event(struct timeline *timeline, size_t *place, struct timeline_event *event);

/* Bookmarks, kept with the pinball: a line for a position. The i-th: 1, or 0 past the last. */
int timeline_bookmark(struct timeline *t, const struct position *at, const char *note,
                      struct err *err);
int timeline_bookmark_get(struct timeline *t, size_t i, struct position *at, const char **note);

#endif
