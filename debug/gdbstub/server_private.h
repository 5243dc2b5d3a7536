/* server_private.h - what the parts of the stub share.
 *
 * SPDX-License-Identifier: MIT
 *
 * A packet's handler reads its arguments and leaves the answer in server->reply; empty means "not
 * known here", as the protocol has it. The parts are files: each has its handlers, its share of
 * struct server, and functions for the others, named after it.
 */
#ifndef DEBUG_GDBSTUB_SERVER_PRIVATE_H
#define DEBUG_GDBSTUB_SERVER_PRIVATE_H

#include <time.h>

#include "debug/debuggee.h"
#include "debug/events/describer.h"
#include "debug/events/lines.h"
#include "debug/gdbstub/args.h"
#include "debug/gdbstub/diversion.h"
#include "debug/gdbstub/forks.h"
#include "debug/gdbstub/link.h"
#include "debug/gdbstub/loop.h"
#include "debug/gdbstub/packet.h"
#include "debug/gdbstub/registers.h"
#include "debug/gdbstub/reply.h"
#include "debug/gdbstub/server.h"

enum { FILES_MAX = 32 };

/* A breakpoint (type 0, 1) or watchpoint (2, 3, 4) that GDB has set. */
struct breakpoint {
    int type;
    uint64_t addr, kind;
    struct reply conditions; /* as struct debuggee_break has them */
};

struct breakpoints {
    struct breakpoint *list;
    size_t count, room;
    bool calls;
    uint8_t call_wanted[STOP_MAX_CALLS / 8];
    uint8_t signal_passed[STOP_MAX_SIGNALS];
    struct reply given; /* what the debuggee was told last, as bytes */
    bool is_given;
    uint64_t kept_out; /* was given, though it is out; 0: none */
};

struct open_file {
    bool used;
    int number; /* kept file; -1: text, or local */
    int local;  /* a descriptor of a debug file of this machine plus one; 0: none */
    char *text; /* of a file below /proc */
    uint64_t bytes;
};

/* Where listings of events and of output lines have come to (history.c). */
struct history {
    uint64_t line;
    size_t place; /* of the event that lines come from */
    struct lines lines;
    struct describer *describer; /* NULL: nobody has asked for events */
    size_t described;            /* place of the next event */
};

struct server {
    const struct server_options *options;
    struct debuggee debuggee;
    struct link *link;
    struct packet_reader reader;
    char in[4096];
    size_t in_at, in_bytes;
    struct reply reply, frame, document;
    char document_name[128]; /* what `document` is: object and annex of qXfer */
    bool silent;             /* this packet has no answer */
    bool gone;               /* the client is */
    bool running;            /* it waits for a stop, so that it can be shown output */
    bool monitoring;         /* it waits for `monitor`, and wants a sign of life now and then */
    time_t last_sign;

    /* What the client has said. */
    bool multiprocess, swbreak, hwbreak, exec_events, fork_events, vfork_events, extended, no_ack;
    bool alive;         /* it has a process, in its view */
    bool seen;          /* its user has seen the last stop */
    bool interrupt;     /* sent after the last stop: a run that comes next ends where it begins */
    bool told_of_calls; /* what becomes of what they write */
    uint32_t general, resumed; /* threads of Hg and Hc; 0: any */
    uint32_t selected;         /* the user's, since the last stop, as far as it is known; 0: not */

    struct debuggee_stop stop, pending; /* the last; one that is to be told next */
    bool has_pending;
    struct position passed; /* a hit that a step back off a breakpoint has passed by: it is next */
    bool has_passed;
    uint64_t program_mark; /* of the program that the client knows of */
    struct position begin;
    struct debuggee_move goal; /* the next resume goes there instead of where it says */
    bool goal_stops;           /* ... unless there is a breakpoint before */

    struct breakpoints breakpoints;
    struct forks forks;
    struct diversion diversion;
    struct loop loop;
    struct open_file files[FILES_MAX];
    uint64_t tls_symbol[5];
    unsigned tls_asked;
    struct history history;
    struct reply arguments; /* that the program was recorded with, each with its end */
};

typedef void server_handler(struct server *s, struct args *args);

/* server.c */
struct server *server_new(const struct server_options *options, struct link *link, struct err *err);
void server_free(struct server *s);
void server_begin_session(struct server *s);
/* Serves the client that is connected until it leaves. */
void server_serve(struct server *s);
/* Answers one packet: s->reply, unless s->silent. */
void server_answer(struct server *s, const char *data, size_t n);
void server_ok(struct server *s);
void server_refuse(struct server *s); /* E01 */
void server_error(struct server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void server_message(struct server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shown by GDB, while something runs. */
void server_console(struct server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void server_output(void *arg, int fd, const void *bytes, size_t n);

/* resume.c, stops.c */
server_handler resume_vcont, resume_vcont_query, resume_continue, resume_step, resume_back,
    resume_step_back, resume_run, resume_restart;
server_handler stops_query;
uint64_t stops_program_mark(struct server *s);
/* GDB's number of what it is told of as. */
int stops_signal_of(const struct debuggee_stop *stop);
void stops_report(struct server *s, const struct debuggee_stop *stop);
/* Not as a fork. */
void stops_report_plainly(struct server *s, const struct debuggee_stop *stop);
void stops_report_as(struct server *s, int signal, const char *reason, uint32_t thread);
/* A step of the thread, that was not made; it is at none of GDB's breakpoints any more. */
void stops_pretend_step(struct server *s, uint32_t thread);
void stops_report_exec(struct server *s, const struct debuggee_stop *stop);
void stops_report_gone(struct server *s, const struct debuggee_stop *stop); /* it was alive */

/* threads.c */
server_handler threads_select, threads_alive, threads_current, threads_first, threads_next,
    threads_extra;
bool threads_parse(struct server *s, struct args *args, int64_t *thread); /* -1: all, 0: any */
void threads_format(struct server *s, struct reply *out, uint32_t thread);
int32_t threads_pid(struct server *s);
struct program_thread *threads_list(struct server *s, size_t *count); /* the caller frees it */
void threads_xml(struct server *s, struct reply *out);
bool threads_user_selects(struct server *s, uint64_t number);

/* state.c */
server_handler state_get_all, state_set_all, state_get, state_set, state_read, state_write,
    state_write_binary;
int state_registers(struct server *s, uint32_t thread, struct registers *out, struct err *err);
size_t state_memory(struct server *s, uint64_t addr, void *out, size_t bytes);
bool state_word(struct server *s, uint64_t addr, uint64_t *value);

/* breakpoints.c */
server_handler breakpoints_insert, breakpoints_remove, breakpoints_pass_signals,
    breakpoints_catch_calls;
void breakpoints_clear(struct server *s, bool calls);
void breakpoints_forget(struct server *s); /* a new client: signals, too */
struct breakpoints_how {
    uint32_t only; /* stops of other threads are passed; 0: none are */
    bool steps;    /* all signals count, also those that GDB passes on: it steps over handlers */
    uint64_t off; /* the one that GDB has taken out here, to step a thread off it, stays; 0: none */
};
int breakpoints_apply(struct server *s, const struct breakpoints_how *how, struct err *err);
/* Was the one at pc (0: any) given to the debuggee the last time, and has GDB taken it out since?
 */
bool breakpoints_is_out(const struct server *s, uint64_t pc);
/* A mark of all that was given the last time: changes with it. */
uint64_t breakpoints_mark(const struct server *s);
bool breakpoints_is_hardware(const struct server *s, uint64_t pc);
bool breakpoints_watch(const struct server *s); /* is anything watched? */
bool breakpoints_is_set(const struct server *s, uint64_t pc);

/* arguments.c */
void arguments_note(struct server *s); /* at the program's first instruction */
/* `WORD;WORD...`, each in hexadecimal: are they the program's? None at all are. */
bool arguments_are(const struct server *s, struct args *words, char separator);

/* files.c, proc.c, tls.c, xfer.c, query.c, history.c */
server_handler files_packet;
void files_close_all(struct server *s);
bool proc_text(struct server *s, const char *path, struct reply *out);
bool proc_link(struct server *s, const char *path, struct reply *out);
server_handler tls_symbol, tls_address;
server_handler xfer_packet;
server_handler query_packet, query_monitor;
void history_events(struct server *s, struct args *args, struct reply *out);
void history_output(struct server *s, struct args *args, struct reply *out);
void history_statements(struct server *s, struct args *args, struct reply *out);
void history_forget(struct server *s);

#endif
