/* record.h - what the event log of a pinball holds, as bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/pinball.md, section "Records". Included by code inside the target and outside; no libc. A
 * change here is a change of the format: PINBALL_VERSION in format.h.
 */
#ifndef PINBALL_RECORD_H
#define PINBALL_RECORD_H

#include <stdint.h>

enum record_kind {
    RECORD_START = 1,   /* struct record_start: the first thread, before its first instruction */
    RECORD_MAP = 2,     /* struct record_map: a mapping of the initial state */
    RECORD_DATA = 3,    /* struct record_data + bytes: memory now holds these */
    RECORD_CALL = 4,    /* struct record_call + effects: a system call is over */
    RECORD_RESTART = 5, /* struct record_check: a call was given up for a signal; it ticks */
    RECORD_SIGNAL = 6,  /* struct record_signal */
    RECORD_FAULT = 7,   /* struct record_fault */
    RECORD_SWITCH = 8,  /* struct record_switch: another thread runs from here on */
    RECORD_YIELD = 9,   /* struct record_check: the running thread stops at this tick */
    RECORD_CHECK = 10,  /* struct record_check: its registers at this tick */
    RECORD_VALUES = 11, /* struct record_values: registers that an instruction delivered */
    RECORD_THREAD = 12, /* struct record_thread: clone is making one */
    RECORD_BEGIN = 13,  /* struct record_begin: a thread's first words */
    RECORD_RANGE = 14,  /* struct record_range: address space that is the runtime's */
    RECORD_MEMORY = 15, /* struct record_memory + struct memory_sum: hashes of pages */
    RECORD_END = 16,    /* struct record_end */
    RECORD_IMAGE = 17,  /* struct record_image: a program begins; at the start and after execve */
    RECORD_SIZE = 18,   /* struct record_size: the file behind shared memory has another size now */
    RECORD_OBJECT = 19, /* struct record_object + bytes: what that file now holds there */
    RECORD_KINDS
};

/* Every record begins with this; `bytes` counts all of it, a multiple of 8. */
struct record {
    uint8_t kind;
    uint8_t flags;
    uint16_t nr; /* RECORD_CALL: the system call */
    uint32_t bytes;
};

enum { RECORD_MAX_BYTES = 48 << 10 };

/* A tick count and pc, and the hash of the running thread's registers there. */
struct record_check {
    struct record r;
    uint64_t count, pc, hash;
};

struct record_start {
    struct record r;
    uint64_t gpr[16], rip, rflags;
    uint64_t fs_base;
    uint64_t mask;                   /* blocked signals */
    uint64_t ignored;                /* signals whose action is to ignore */
    uint64_t brk;                    /* the heap's begin and end */
    uint64_t stack_end, stack_limit; /* where the stack may grow: [end - limit, end) */
    uint64_t vdso, features;         /* its address, 0: none; XCR0 */
    int32_t pid, tid;
};

/* Followed by RECORD_MAP and RECORD_DATA, then RECORD_START. */
struct record_image {
    struct record r;
    uint64_t base, bytes, reserved; /* the runtime's: it owns [reserved, base + bytes) */
    uint32_t thread, pad;           /* the first thread's number */
};

enum { MAP_FILE_NONE = 0xffffffff };

struct record_map {
    struct record r;
    uint64_t start, bytes;
    uint32_t prot, flags; /* as for mmap */
    uint32_t file;        /* number of a kept file, MAP_FILE_NONE: anonymous */
    uint32_t object;      /* shared memory with this number, 0: private */
    uint64_t offset;      /* in the file or object */
    uint64_t size;        /* of the file or object then */
};

/* flags of RECORD_DATA */
enum { DATA_AFTER = 1 /* belongs to the call before it, not to the next one */ };

struct record_data {
    struct record r;
    uint64_t addr, bytes; /* bytes of data follow, padded with zeros to 8 */
};

/* Belongs to the system call that follows. */
struct record_size {
    struct record r;
    uint32_t object, pad;
    uint64_t size;
};

/* Belongs to the system call that follows, too: the call wrote to a file that is mapped. */
struct record_object {
    struct record r;
    uint32_t object, pad;
    uint64_t offset, bytes; /* bytes of data follow, padded with zeros to 8 */
};

/* flags of RECORD_CALL */
enum {
    CALL_MAP = 1,  /* a struct record_map (without its first 8 bytes) follows: what mmap or shmat
                      made */
    CALL_SAME = 2, /* noted before it was made: the replay does the same */
};

/* Followed by effects: uint64_t addr, uint64_t bytes, data padded to 8; until the record ends. */
struct record_call {
    struct record r;
    uint64_t hash; /* registers before the call */
    int64_t result;
};

/* flags of RECORD_SIGNAL and RECORD_FAULT */
enum {
    AT_TICK = 1, /* when count is reached; else at the system call under way */
    BETWEEN = 1, /* RECORD_YIELD: the pc lies between two ticks */
    MASKED = 2,  /* the call under way has a signal mask of its own, `mask` */
};

/* `rflags` is as the program's handler finds it: flags that no instruction reads again may hold
 * anything, and a replay has to show the same. */
struct record_signal {
    struct record r;
    uint64_t count, pc, hash;
    uint64_t rflags;
    uint64_t mask;
    uint8_t info[128]; /* siginfo_t */
};

struct record_fault {
    struct record r;
    uint64_t count, pc, hash;
    uint64_t rflags;
    uint64_t trapno, error, cr2;
    uint64_t forced;
    uint8_t info[128];
};

struct record_switch {
    struct record r;
    uint32_t thread, pad;
};

/* The general registers named in `mask` (bit 16: rflags) follow, 8 bytes each. */
struct record_values {
    struct record r;
    uint64_t hash, mask;
};

struct record_thread {
    struct record r;
    uint32_t thread, pad; /* the new one's number */
};

struct record_begin {
    struct record r;
    uint32_t thread;
    int32_t tid, pid, pad;
};

struct record_range {
    struct record r;
    uint64_t start, bytes;
};
struct memory_sum {
    uint64_t start, bytes, hash;
};

struct record_memory {
    struct record r;
    uint64_t count, pc, ranges; /* of the running thread; so many struct memory_sum follow */
};

enum end_reason {
    END_EXIT = 1,   /* status: what exit_group or the last exit was given */
    END_SIGNAL = 2, /* status: the signal */
    END_EXEC = 3,   /* the program replaced itself; the new one is not recorded */
    END_KILLED = 4, /* the process is gone and could not say why: status as wait tells it */
    END_LOST = 5,   /* the recorder is gone */
    END_FULL = 6,   /* no room on disk: status is the errno */
    END_FAILED = 7, /* something could not be recorded; status: 0 */
};

struct record_end {
    struct record r;
    uint64_t count, pc, hash;
    uint64_t ticks;  /* of all threads */
    uint32_t reason; /* enum end_reason */
    int32_t status;
};

_Static_assert(sizeof(struct record) == 8, "record");

#endif
