/* debuggee.h - a program that a debugger looks into: what the GDB stub needs of one.
 *
 * SPDX-License-Identifier: MIT
 *
 * A debuggee is somewhere, `now`, and stopped there. It moves by running forwards to the next thing
 * that it is asked to stop at, or backwards to the last one before now. An implementation fills
 * the table of debuggee_ops.h; replayer/timeline_debuggee.c does for recordings. It belongs to one
 * thread.
 *
 * A part of it is copies: throw-away processes to call functions in. A copy may be written and runs
 * on its own, with one thread and without effects outside. While there is one, the state is the
 * copy's. It can be parked, so that the state is the program's again; there is at most one that
 * runs and one that is parked. Moves end both.
 */
#ifndef DEBUG_DEBUGGEE_H
#define DEBUG_DEBUGGEE_H

#include "base/err.h"
#include "base/position.h"
#include "debug/event.h"
#include "debug/move.h"
#include "debug/program.h"
#include "debug/stop.h"

struct debuggee {
    const struct debuggee_ops *ops;
    void *self;
};

/* Whom a debuggee tells what happens while it runs. Each may be NULL: not wanted. */
struct debuggee_listener {
    void (*output)(void *arg, int fd, const void *bytes, size_t n); /* once, when it is new */
    void (*message)(void *arg, const char *line);
    bool (*interrupted)(void *arg); /* asked several times a second: shall it stop? */
    void *arg;
};

void debuggee_close(struct debuggee *d); /* one that is {0}, too */

/* ---- what to stop at ---- */

struct debuggee_watch {
    uint64_t addr;
    uint32_t bytes; /* 1 to 4,096 */
    enum watch_kind kind;
};

/* A breakpoint is a hit if it has no conditions, or one of them is not zero. A condition is a GDB
 * agent expression; several are placed one after the other, each with its length before it. */
struct debuggee_break {
    uint64_t pc;
    const uint8_t *conditions; /* {uint32_t bytes; bytes...}... */
    uint32_t condition_bytes;  /* 0: none */
};

struct debuggee_stops {
    const struct debuggee_break *breaks;
    size_t break_count; /* at most 10,000 */
    struct debuggee_watch watches[STOP_MAX_WATCHES];
    size_t watch_count;
    bool calls;                              /* stop at system calls: ... */
    uint8_t call_wanted[STOP_MAX_CALLS / 8]; /* ... at these */
    uint8_t signal_wanted[STOP_MAX_SIGNALS]; /* stop before their delivery, if not 0 */
    uint32_t only; /* thread: others' stops are passed, its begin and end are stops; 0: none */
};

/* Replaces all there were. Cheap if little has changed. What it points to is copied. */
int debuggee_stops(struct debuggee *d, const struct debuggee_stops *stops, struct err *err);

/* ---- moving ---- */

const struct debuggee_stop *debuggee_now(const struct debuggee *d); /* the last stop */
/* -1: now is where it was, if it can be. */
int debuggee_move(struct debuggee *d, const struct debuggee_move *move, struct debuggee_stop *stop,
                  struct err *err);
/* Is it before (-1), at (0) or behind (1) now? */
int debuggee_compare(struct debuggee *d, const struct position *to, int *order, struct err *err);

/* ---- the state at now ---- */

/* Thread 0 is the running one. */
int debuggee_registers(struct debuggee *d, uint32_t thread, struct program_registers *out,
                       struct err *err);
/* Returns how many bytes could be read, from the first on. */
size_t debuggee_read(struct debuggee *d, uint64_t addr, void *out, size_t bytes);
/* Return how many there are, which may be more than room. */
size_t debuggee_threads(struct debuggee *d, struct program_thread *out, size_t room);
size_t debuggee_maps(struct debuggee *d, struct program_map *out, size_t room);

struct debuggee_program { /* that runs now; valid until the next move */
    const char *path;
    int32_t pid;
    const uint8_t *auxv;
    size_t auxv_bytes;
    uint64_t instructions; /* of the whole recording; 0: they were not counted (verify --count) */
};
void debuggee_program(struct debuggee *d, struct debuggee_program *out);

/* Files of the machine that the program ran on, by path, with symbolic links of that machine not
 * followed. Returns a number, -1: there is none, or it is not kept whole. */
int debuggee_file_find(struct debuggee *d, const char *path, uint64_t *size);
int debuggee_file_read(struct debuggee *d, int file, uint64_t offset, void *out, size_t bytes,
                       struct err *err);
const char *debuggee_file_path(struct debuggee *d, int file); /* NULL past the last one */
/* A separate debug file of this machine: a descriptor with *size, or -1. */
int debuggee_debug_file(struct debuggee *d, const char *path, uint64_t *size);

/* ---- what happened, as far as it was executed once ---- */

struct debuggee_event {
    enum event_kind kind;
    struct position at;   /* EVENT_THREAD: the new thread's own */
    uint64_t number;      /* of events of the log before it: grows */
    uint64_t ticks;       /* of all threads */
    bool unfinished;      /* EVENT_CALL: has no result */
    int64_t call, result; /* and what the text is, by kind: messages.h */
    const uint8_t *text;
    size_t text_bytes;
};

/* All of them in order: 1 with *event, valid until the next move; 0 after the last. *place starts
 * as 0. */
int debuggee_event(struct debuggee *d, size_t *place, struct debuggee_event *event);

/* Bookmarks, kept with the recording: a line for a position. The i-th: 1, or 0 past the last. */
int debuggee_bookmark(struct debuggee *d, const struct position *at, const char *note,
                      struct err *err);
int debuggee_bookmark_get(struct debuggee *d, size_t i, struct position *at, const char **note);

/* ---- a program that is alive ---- */

/* It is alive, and now is where it is: what is written below is written to it, and stays. */
bool debuggee_alive(const struct debuggee *d);
/* What was recorded of it until now is on the disk: others may look at it. */
int debuggee_settle(struct debuggee *d, struct err *err);
/* The debugger leaves: the program goes on by itself, or is killed. A recording stays. */
void debuggee_leave(struct debuggee *d, bool kills);

/* A living program may be recorded in parts. */
enum debuggee_record {
    RECORD_TOLD, /* only tells */
    RECORD_ON,   /* a part begins */
    RECORD_OFF,  /* it ends */
};
struct debuggee_recorded {
    bool on;          /* the program is alive, and being recorded */
    bool later;       /* what was asked for comes when the program goes on */
    const char *path; /* of the part that is recorded, or was last; NULL: none, or as ever */
};
int debuggee_record(struct debuggee *d, enum debuggee_record what, struct debuggee_recorded *out,
                    struct err *err);

/* Its standard input, output and error are this file from here on, such as another terminal. */
int debuggee_terminal(struct debuggee *d, const char *path, struct err *err);

/* A recording that leaves code out was made of these statements, in the order of their execution:
 * the i-th begins at `at`. 1, or 0 past the last; others have none. */
struct debuggee_statement {
    struct position at, last; /* its first and last instruction, before anything else is executed */
    uint32_t depth;           /* of calls */
    bool goes_on;             /* it was begun before, and goes on here */
    bool in_call;             /* its thread may wait in a system call there: no place to go to */
};
int debuggee_statement(struct debuggee *d, size_t i, struct debuggee_statement *out);
/* The last one that the position's thread has begun there. 0: none. */
int debuggee_statement_at(struct debuggee *d, const struct position *at, size_t *i);
/* The i-th pc that some of them begin at, and the last pc that one of these has before it ticks,
 * UINT64_MAX if it does. 0: there are fewer. */
int debuggee_statement_place(struct debuggee *d, size_t i, uint64_t *first, uint64_t *last);

/* ---- copies ---- */

int debuggee_divert(struct debuggee *d, struct err *err); /* unless there is a copy already */
bool debuggee_diverted(const struct debuggee *d);
void debuggee_divert_end(struct debuggee *d); /* the parked one, too */
void debuggee_park(struct debuggee *d);       /* in place of one that is parked */
void debuggee_unpark(struct debuggee *d);     /* as it was; the other one ends */
void debuggee_park_end(struct debuggee *d);
bool debuggee_parked(struct debuggee *d);
size_t debuggee_read_parked(struct debuggee *d, uint64_t addr, void *out, size_t bytes);

size_t debuggee_write(struct debuggee *d, uint64_t addr, const void *bytes, size_t n);
int debuggee_set_registers(struct debuggee *d, uint32_t thread,
                           const struct program_registers *registers, struct err *err);
/* Runs the copy's `thread` until a stop (END: it has ended); step: one instruction. */
int debuggee_divert_run(struct debuggee *d, uint32_t thread, bool step, struct debuggee_stop *stop,
                        struct err *err);

#endif
