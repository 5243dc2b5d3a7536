/* debugger.h - a recording that is open: its GDB, its questions, what is known of it.
 *
 * SPDX-License-Identifier: MIT
 *
 * All that a front end does with a recording goes through here; it needs no screen. Nothing waits:
 * changes are told from the main loop, and what changed is then in the struct below.
 */
#ifndef GUI_LINK_DEBUGGER_H
#define GUI_LINK_DEBUGGER_H

#include "base/err.h"
#include "gui/link/answer.h"
#include "gui/link/gdb.h"
#include "gui/link/job.h"
#include "gui/model/breakpoints.h"
#include "gui/model/program.h"
#include "gui/model/session.h"
#include "gui/model/slices.h"
#include "gui/model/timeline.h"

enum debugger_change {
    CHANGE_STATE, /* running, stopped, lost: session.state */
    CHANGE_STOP,  /* it stopped: session.frame */
    CHANGE_FRAME, /* another frame or thread is looked at */
    CHANGE_PLACE, /* session.position and its kind are known */
    CHANGE_BREAKPOINTS,
    CHANGE_TIMELINE,  /* turns */
    CHANGE_MARKS,     /* of the timeline */
    CHANGE_SLICE,     /* another one is current, or none */
    CHANGE_TRACE,     /* there is a trace now */
    CHANGE_WORK,      /* work in the background began, goes on, or is over: work, percent */
    CHANGE_RECORDING, /* another one is open, or none */
    CHANGE_SOURCE,    /* a source that was to come later is there, or is not */
};

struct debugger;

struct debugger_listener {
    void (*changed)(void *arg, enum debugger_change change);
    void (*said)(void *arg, const char *text);   /* GDB's console */
    void (*failed)(void *arg, const char *text); /* what went wrong, in words for the user */
    void *arg;
};

/* What asks for something in the background. `answer` is NULL if it failed: that was told. */
typedef void debugger_answered(void *arg, const struct value *answer);

struct debugger {
    struct session session;
    struct gdb *gdb;
    struct timeline *timeline;
    GPtrArray *breakpoints; /* of struct breakpoint * */
    struct slice *slice;    /* the current one, or NULL */
    bool traced;
    const char *work; /* what is done in the background, or NULL */
    int percent;      /* of it; -1: not known */
    struct debugger_own *own;
};

/* `drdebug`: the program; copied. */
struct debugger *debugger_new(const char *drdebug, const struct debugger_listener *listener);
void debugger_free(struct debugger *d);

/* Opens a recording, at main; what is wrong with it is told. HOST:DIR is one of another host. */
void debugger_open(struct debugger *d, const char *path);
/* Starts a program and records it, stopped at main; its input and output are the terminal `tty`. */
void debugger_run(struct debugger *d, const struct program *program, const char *tty);
/* What is open is a program that was started: NULL if not. */
const struct program *debugger_program(const struct debugger *d);
void debugger_close(struct debugger *d);
/* The recording's host; NULL: it is on this machine. */
const char *debugger_host(const struct debugger *d);
bool debugger_is_connected(const struct debugger *d);
/* HOST:DIR as the host itself has it; to be freed. */
char *debugger_path_there(const struct debugger *d, const char *spec);
/* After GDB has died: starts another one, with the same breakpoints, where the session was. A
 * program that was live has ended with it: its recording is opened. */
void debugger_recover(struct debugger *d);
/* The GDB to start, from now on; NULL or "": the one on the path. */
void debugger_use_gdb(struct debugger *d, const char *gdb);

/* Where sources are that are not where they were compiled: FROM=TO with spaces between. */
void debugger_use_sources(struct debugger *d, const char *text);

/* The text of a source file where the recording is, to be freed. NULL: there is none, or it comes
 * later, as CHANGE_SOURCE tells. */
char *debugger_source(struct debugger *d, const char *path, bool *later);

/* To the user's eye all of these are moves. `command` is one of MI's, or of GDB's own if it begins
 * with no dash. */
void debugger_move(struct debugger *d, const char *command);
void debugger_goto(struct debugger *d, const char *position);
void debugger_goto_ticks(struct debugger *d, uint64_t ticks);
void debugger_restart(struct debugger *d);
void debugger_goto_failure(struct debugger *d);
/* To a line, forwards or backwards: a breakpoint that goes with the stop. */
void debugger_run_to(struct debugger *d, const char *file, unsigned line, bool back);

void debugger_select_frame(struct debugger *d, unsigned level);
void debugger_select_thread(struct debugger *d, unsigned gdb_thread);

void debugger_toggle_breakpoint(struct debugger *d, const char *file, unsigned line,
                                bool temporary);
void debugger_enable_breakpoint(struct debugger *d, const char *number, bool enabled);
/* Commands that change breakpoints, such as -break-delete 2. The list is asked for afterwards. */
void debugger_breakpoint_command(struct debugger *d, const char *command);

/* A query of a pane's: a move drops it. */
void debugger_query(struct debugger *d, const char *command, gdb_answer *answer, void *arg);
/* What has an effect: it is never dropped. */
void debugger_command(struct debugger *d, const char *command, gdb_answer *answer, void *arg);
/* Gives a variable of a program that is live another value; what is shown is asked for again. */
void debugger_change_value(struct debugger *d, const char *expression, const char *value);
/* A line that the user typed at GDB's prompt. */
void debugger_type(struct debugger *d, const char *line);

/* `drdebug ask DIR WORD...` in the background, one after the other; rows as answer.h has them. Ends
 * with NULL. */
void debugger_ask(struct debugger *d, const char *title, const char *const words[],
                  debugger_answered *fn, void *arg);
/* The same of many rows: each is told as it comes, and the answer has none. */
void debugger_ask_rows(struct debugger *d, const char *title, const char *const words[],
                       answer_row *row, debugger_answered *fn, void *arg);
/* Collects the trace if there is none; then fn(arg, NULL). */
void debugger_trace(struct debugger *d, debugger_answered *fn, void *arg);
/* The story of an expression here, or of the failure if it is NULL; the slice becomes the current
 * one. The answer is what -pin-why says. */
void debugger_why(struct debugger *d, const char *expression, debugger_answered *fn, void *arg);
void debugger_slice(struct debugger *d, const char *command, debugger_answered *fn, void *arg);
void debugger_drop_slice(struct debugger *d);
/* Stops whatever takes long: GDB, or the work in the background. */
void debugger_cancel(struct debugger *d);

#endif
