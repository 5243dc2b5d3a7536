/* mailbox.h - how the replaying process and its supervisor talk.
 *
 * SPDX-License-Identifier: MIT
 *
 * One piece of shared memory. At any time one side has the turn: the other waits for it. The
 * replaying process asks for log chunks and file contents, hands over output, and tells that it has
 * stopped; the answer to that last one is the next command. To the supervisor everything in here is
 * untrusted: it copies fields before it looks at them and checks every length.
 *
 * Included by code inside the target (replayer/target) and outside; no libc.
 */
#ifndef REPLAYER_MAILBOX_H
#define REPLAYER_MAILBOX_H

#include <stdint.h>

enum mailbox_turn { TURN_TARGET, TURN_HOST };

/* What the replaying process asks for. arg[] in, arg[] and data out. */
enum mailbox_ask {
    ASK_CHUNK = 1, /* arg0: number. Answer: arg0 = bytes in data; 0: there is none */
    ASK_FILE,      /* arg0: number. Answer: arg0 = its offset in the files' descriptor, arg1 = 1 */
    TELL_OUTPUT,   /* arg0: 1 or 2; arg1: bytes in data */
    TELL_MESSAGE,  /* arg1: bytes in data: a line for the user */
    TELL_STOP,     /* struct mailbox_stop in data. Answer: a command */
    TELL_DONE,     /* READ, WRITE, ... done: arg0 bytes or state. Answer: the next command */
};

enum mailbox_command {
    DO_RUN = 100, /* arg0 flags, arg1..3: thread, count, pc to stop at (thread 0: nowhere) */
    DO_READ,      /* arg0 address, arg1 bytes: to data; answered with the number read */
    DO_WRITE,     /* arg0 address, arg1 bytes of data */
    DO_REGISTERS, /* arg0 thread: struct mailbox_registers to data */
    DO_THREADS,   /* numbers of live threads, uint32_t each, to data; arg0 = how many */
    DO_MAPS,      /* struct mailbox_map each, from number arg0 on; arg0 = how many */
    DO_COPY,      /* fork: the copy has mailbox number arg0; answered with its process id */
    DO_TOOL,      /* name of a built-in tool in data; arg0 1 on, 0 off */
    DO_QUIT,
};

enum { RUN_VERIFY = 1 /* check memory hashes */, RUN_QUIET = 2 /* no output */ };

enum mailbox_reason {
    STOP_START = 1, /* before the first instruction */
    STOP_POSITION,
    STOP_END,      /* the recording ends here: reason and status tell how */
    STOP_LOG_ENDS, /* ... without an end of its own */
    STOP_DIVERGED, /* text says it */
    STOP_FAILED,   /* the pinball cannot be replayed: text */
    STOP_EXEC,     /* another program begins: image says where, outputs where its output goes */
};

enum { MAILBOX_FDS = 1024 };

struct mailbox_stop {
    uint32_t reason, end, thread;
    int32_t status;
    uint64_t count, pc, ticks, records;
    uint64_t chunk, offset; /* STOP_EXEC: of the image's record in the log */
    uint64_t base, bytes, reserved;
    uint8_t leads_to[MAILBOX_FDS];
    char text[400];
};

struct mailbox_registers {
    uint64_t gpr[16], rip, rflags, fs_base, gs_base, count;
    uint32_t thread;
    int32_t tid;
    uint32_t xsave_bytes, pad;
    uint8_t xsave[8192];
};

struct mailbox_map {
    uint64_t start, end;
    uint32_t prot, flags;
};

enum { MAILBOX_DATA_BYTES = 8 << 20, MAILBOXES = 256 };

struct mailbox {
    uint32_t turn; /* futex */
    uint32_t op;   /* enum mailbox_ask or mailbox_command */
    uint64_t arg[6];
    /* Settings, before the start. */
    uint64_t reserved_bytes;                /* below the runtime */
    uint32_t files_fd, box_fd;              /* box_fd: 0 unless copies may be made */
    uint64_t chunk, offset, records, ticks; /* where in the log to begin, and what was before */
    uint8_t leads_to[MAILBOX_FDS];          /* descriptors: 1 and 2 for standard output and error */
    uint8_t data[MAILBOX_DATA_BYTES] __attribute__((aligned(4096)));
};

#endif
