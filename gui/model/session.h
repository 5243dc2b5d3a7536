/* session.h - where a session is: what GDB has said last about the program.
 *
 * SPDX-License-Identifier: MIT
 *
 * Filled from answers; the panes read it. A place is where the program stopped or what the user
 * looks at: another frame or thread.
 */
#ifndef GUI_MODEL_SESSION_H
#define GUI_MODEL_SESSION_H

#include "gui/model/value.h"

enum session_state {
    SESSION_NONE,    /* no recording is open */
    SESSION_LOADING, /* GDB is being started */
    SESSION_STOPPED,
    SESSION_RUNNING,
    SESSION_LOST, /* GDB has ended */
};

struct session_frame {
    unsigned level;
    uint64_t pc;
    char *function, *file, *fullname, *module; /* NULL: not known */
    unsigned line;                             /* 0: not known */
};

/* What `drdebug info --json` tells. */
struct session_recording {
    char *path, *name, *program, *end, *reason;
    uint64_t threads, ticks, instructions, bytes;
    int status;
    bool own, failed;
    bool live; /* the program runs, and is being recorded */
};

struct session {
    enum session_state state;
    struct session_recording recording;
    struct session_frame frame; /* the one that is looked at */
    unsigned gdb_thread;        /* GDB's number of its thread */
    char *position;             /* T2:48213:401136; NULL: not known */
    uint64_t thread, ticks, events;
    bool at_begin, at_end;
    bool now;  /* of a live one: this is where the program is, and it can be changed */
    char *why; /* in words: "breakpoint 1", "SIGABRT, Aborted" */
};

void session_deinit(struct session *s);
void session_frame_deinit(struct session_frame *f);

void session_take_info(struct session *s, const char *path, const struct value *info);
/* A program that is started: `path` is where its recording goes. */
void session_take_live(struct session *s, const char *path, const char *program);
/* The fields of *stopped. */
void session_take_stop(struct session *s, const struct value *stop);
/* A frame of GDB's: of a stop, of the stack, of a thread. */
void session_take_frame(struct session_frame *f, const struct value *frame);
/* What -pin-place tells. */
void session_take_place(struct session *s, const struct value *place);

/* For the status bar, to be freed: "T2 in door () at racy_counter.c:32, breakpoint 1". */
char *session_words(const struct session *s);
/* How a stop came about, in words; to be freed. NULL: not worth a word, as after a step. */
char *session_why(const struct value *stop);

#endif
