/* messages.h - what a replaying process and its supervisor say to each other.
 *
 * SPDX-License-Identifier: MIT
 *
 * Plain data. How it travels is mailbox.h's; the supervisor sees only private copies that were
 * checked (inbox.h). Included by code inside the target and outside; no libc.
 */
#ifndef DEBUG_MESSAGES_H
#define DEBUG_MESSAGES_H

#include <stdint.h>

#include "debug/event.h"
#include "debug/stop.h"

/* What the replaying process asks for. arg[] in, arg[] and data out. */
enum mailbox_ask {
    ASK_CHUNK = 1, /* arg0: number. Answer: arg0 = bytes in data; 0: there is none */
    ASK_FILE,      /* arg0: number. Answer: arg0 = its offset in the files' descriptor, arg1 = 1 */
    TELL_JOURNAL,  /* arg1: bytes in data: struct mailbox_entry, each with its text */
    TELL_MESSAGE,  /* arg1: bytes in data: a line for the user */
    TELL_STOP,     /* struct mailbox_stop in data. Answer: a command */
    TELL_FLOW,     /* arg0: bytes in flow_words; arg1: in flow_notes */
    TELL_RECORDS,  /* arg1: bytes in data: whole records of a state (DO_STATE) */
    TELL_DONE,     /* READ, WRITE, ... done: arg0 bytes or state. Answer: the next command */
    TELL_ROWS,     /* arg1: bytes in rows: what probes took (probe.h) */
};

enum mailbox_command {
    DO_RUN = 100, /* struct mailbox_run in data */
    DO_STOPS,     /* struct mailbox_stops in data, with what follows it */
    DO_READ,      /* arg0 address, arg1 bytes: to data; answered with the number read */
    DO_WRITE,     /* arg0 address, arg1 bytes of data */
    DO_REGISTERS, /* arg0 thread: struct mailbox_registers to data */
    DO_SET,       /* arg0 thread: struct mailbox_registers from data; a diversion's */
    DO_THREADS,   /* struct mailbox_thread each, to data; arg0 = how many, arg1: were ever made */
    DO_FENCE,     /* struct mailbox_fence in data: for runs with RUN_FENCE */
    DO_TRAIL,     /* struct mailbox_moment each, the last one last; arg0 = how many */
    DO_MAPS,      /* struct mailbox_map each, from number arg0 on; arg0 = how many */
    DO_COPY,      /* clone: the copy has mailbox number arg0; answered with its process id */
    DO_DIVERT,    /* leave the log: this process only serves calls of functions from here on */
    DO_STATE,     /* TELL_RECORDS: arg0 is an enum mailbox_state */
    DO_TOOL,      /* names of built-in tools in data, NAME+NAME; arg0 1 on, 0 off */
    DO_PROBES,    /* the list of probes in data, from byte arg0 on, of arg1: as much as fits */
    DO_FLUSH,     /* live: the log so far is handed over: its records, parts begun, parts ended */
    DO_RECORD,    /* live: a part begins (arg0 1) or ends: enum trigger_answer */
    DO_LEAVE,     /* live: the program goes on without a debugger; not answered */
    DO_TERMINAL,  /* live: the file with this path is its input and output from here on: done? */
    DO_QUIT,
};

enum mailbox_state {
    STATE_OF_SPACE,
    STATE_OF_THREADS,    /* and processes */
    STATE_CHANGES_BEGIN, /* nothing is told: from here on changes of memory are noted ... */
    STATE_OF_CHANGES,    /* ... and told: mappings, and RECORD_DATA without bytes */
};

/* A point of an execution, in the order of the log. */
struct mailbox_moment {
    uint64_t events; /* records of the log before it */
    uint64_t count, pc;
    uint32_t thread;
    uint32_t stage; /* enum mailbox_stage */
};

enum mailbox_stage {
    STAGE_RETURNED, /* a system call is over, what comes next has not begun */
    STAGE_BEFORE,   /* before the instruction at pc */
    STAGE_ENTERED,  /* in the system call at pc */
    STAGE_SIGNAL,   /* a signal is about to be delivered there, or to end the program */
};

enum {
    RUN_VERIFY = 1,    /* check memory hashes */
    RUN_OUTPUT = 2,    /* tell output */
    RUN_EVENTS = 4,    /* tell system calls, signals and threads */
    RUN_SCAN = 8,      /* do not stop but at the goal: note the last stop there would have been */
    RUN_ON = 16,       /* the run that was paused: what it has noted stays */
    RUN_FENCE = 32,    /* a thread that comes to the fence (DO_FENCE) has made a step */
    RUN_SWITCHES = 64, /* tell threads, and whose turn it is */
    RUN_SINCE = 128,   /* goal.events is the least; the thread may be back in a system call there */
    RUN_GROWS = 256,   /* the log is being written: where it ends now is where to stop */
    RUN_SIGNAL = 512,  /* live: `signal` is delivered in place of the one that it stopped for */
};

#define ANY_EVENTS (~0ull)

struct mailbox_run {
    uint64_t flags;
    /* Stop there; thread 0: nowhere. pc 0: as soon as it has that count. ANY_EVENTS: the first
     * time that the thread is there. */
    struct mailbox_moment goal;
    uint64_t pause_ticks; /* stop when so many have happened, of all threads; 0: never */
    uint64_t told_events; /* what is in the journal already */
    /* Stop when this thread (0: none) has executed an instruction and is outside [low, high). In a
     * scan: keep a trail of its moments. run_thread: in a diversion the thread that runs; live the
     * one that alone may run, 0: all. */
    uint32_t step_thread, run_thread;
    uint64_t low, high;
    uint64_t signal;            /* 0: none */
    uint32_t send, send_thread; /* live: a signal that the debugger sends to this thread; 0: none */
};

struct mailbox_break {
    uint64_t pc;
    uint32_t condition_at, condition_bytes; /* in the bytes behind the breakpoints */
};

struct mailbox_watch {
    uint64_t addr;
    uint32_t bytes, kind; /* enum watch_kind */
};

/* A piece of code that a thread leaves, or comes into. */
struct mailbox_fence {
    uint32_t thread;
    uint32_t entry; /* stop where it comes in, not where it leaves */
    uint64_t edges;
    struct stop_edge edge[STOP_MAX_EDGES]; /* sorted by pc and next */
};

enum { MAILBOX_TRAIL = 4096 };

/* Followed by struct mailbox_break (sorted by pc), then the bytes of conditions. */
struct mailbox_stops {
    uint32_t breaks, watches, condition_bytes;
    uint32_t only; /* thread whose stops count; 0: all */
    uint8_t call_wanted[STOP_MAX_CALLS / 8];
    uint8_t signal_wanted[68]; /* by number */
    struct mailbox_watch watch[STOP_MAX_WATCHES];
};

/* What the program did, for the journal. `text_bytes` of text follow, padded to 8. */
struct mailbox_entry {
    uint32_t kind; /* enum event_kind */
    uint32_t text_bytes;
    struct mailbox_moment at; /* EVENT_CALL that has no result yet: STAGE_ENTERED */
    uint64_t ticks;           /* of all threads */
    int64_t a, b;
};

/* a, b and the text by kind:
 *   EVENT_CALL    number, result, struct mailbox_call
 *   EVENT_SIGNAL  number, 0, siginfo_t
 *   EVENT_THREAD  kernel's number, the thread that made it (0: not known); bit 32: it is a process
 *                 of its own, which shares the memory
 *   EVENT_OUTPUT  enum mailbox_output, descriptor, what was written
 *   EVENT_EXEC    number of the call, 0, struct mailbox_call
 *   EVENT_MARK    which (pinball/marks.h), 0, what it is called
 *   EVENT_EXIT    status, was it killed, name
 *   EVENT_END     enum end_reason, status
 *   EVENT_SWITCH  the thread that goes on, enum switch_why; SWITCH_CALL: number of the call << 8
 *                 with struct mailbox_call */
enum mailbox_output { OUTPUT_OUT = 1, OUTPUT_ERROR, OUTPUT_TERMINAL };

/* A system call's arguments. Pieces of memory follow, each with its bytes, padded to 8. */
struct mailbox_call {
    uint64_t arg[6];
};

/* Memory that the kernel read before the call, or has written; what is longer than is told is cut.
 */
struct mailbox_piece {
    uint64_t addr, total; /* bytes there */
    uint32_t bytes;       /* that follow */
    uint32_t written;
};

enum { MAILBOX_FDS = 1024 };

struct mailbox_what {
    uint32_t reason; /* enum stop_kind */
    uint32_t kind;   /* STOP_WATCH: enum watch_kind */
    struct mailbox_moment at;
    uint64_t ticks, addr; /* addr: STOP_WATCH */
    int64_t number;       /* of the system call, or of the signal */
    uint8_t siginfo[128];
};

struct mailbox_stop {
    struct mailbox_what what;
    struct mailbox_what hit; /* of a scan; reason 0: there was none */
    uint32_t end;            /* STOP_END: how the recording ends, and with which status */
    int32_t status;
    uint64_t chunk, offset; /* STOP_EXEC: of the image's record in the log */
    uint64_t base, bytes, reserved;
    uint8_t leads_to[MAILBOX_FDS];
    char text[400]; /* STOP_DIVERGED, STOP_FAILED: what is wrong */
};

struct mailbox_registers {
    uint64_t gpr[16], rip, rflags, fs_base, gs_base, count;
    uint32_t thread;
    int32_t tid, pid;
    uint32_t xsave_bytes;
    uint8_t xsave[8192];
};

#endif
