/* record.h - what the event log of a pinball holds, as bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/pinball.md, section "Records". Included by code inside the target and outside; no libc. A
 * change here is a change of the format: PINBALL_VERSION in format.h. A new kind that older readers
 * may skip is none.
 */
#ifndef PINBALL_RECORD_H
#define PINBALL_RECORD_H

#include <stdint.h>

#include "pinball/end_reason.h"

enum record_kind {
#define RECORD(name, number, type, count, text) RECORD_##name = (number),
#include "pinball/records.def"
#undef RECORD
    RECORD_KINDS /* all are smaller; not every smaller number is one */
};

/* Every record begins with this; `bytes` counts all of it, a multiple of 8. */
struct record {
    uint8_t kind;
    uint8_t flags;
    uint16_t nr; /* RECORD_CALL: the system call */
    uint32_t bytes;
};

/* SKIPPABLE: kinds from here on are for what a replay can do without. A reader that does not know
 * one skips it; smaller kinds that are unknown are refused. */
enum { RECORD_MAX_BYTES = 48 << 10, RECORD_SKIPPABLE = 128 };

/* Where a thread is: it comes right behind the head of all kinds that have one (record_at.h). */
struct record_at {
    uint64_t count, pc; /* ticks so far; the next instruction */
    union {
        uint64_t hash;   /* of the thread's registers there */
        uint64_t ranges; /* RECORD_MEMORY: so many struct memory_sum follow */
    };
};

/* RECORD_START, SWITCH, CHECK, THREAD, BEGIN and END may have the time behind their struct: a
 * monotonic clock in nanoseconds. Nothing but a reader's `~` depends on it. */
enum { RECORD_TIME_BYTES = 8 };

struct record_check {
    struct record r;
    struct record_at at;
};

struct record_start {
    struct record r;
    uint64_t gpr[16], rip, rflags;
    uint64_t fs_base;
    uint64_t mask, ignored;          /* blocked signals; those whose action is to ignore */
    uint64_t brk;                    /* the heap's begin and end */
    uint64_t stack_end, stack_limit; /* it grows down when touched; its limit then */
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

/* flags of RECORD_MAP after the initial state. What a memory call did before it failed: nothing is
 * mapped there now; it has `prot`; madvise took its pages. Or: if private, it shows `object` */
enum { PARTLY_GONE = 1, PARTLY_PROT = 2, PARTLY_EMPTY = 3, PARTLY_OBJECT = 4 };

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

/* Likewise: the call wrote to a file that is mapped. */
struct record_object {
    struct record r;
    uint32_t object, pad;
    uint64_t offset, bytes; /* bytes of data follow, padded with zeros to 8 */
};

/* It belongs to the initial state, or the system call that follows received it. */
struct record_output {
    struct record r;
    int32_t fd;  /* -1, in the initial state: of those from 3 on, only the ones that follow do */
    uint32_t to; /* 1 or 2; 0: neither */
};

/* flags of RECORD_CALL */
enum {
    CALL_MAP = 1,  /* a struct record_map (without its first 8 bytes) follows: docs/pinball.md */
    CALL_SAME = 2, /* noted before it was made: the replay does the same */
    CALL_TO_1 = 4, /* the descriptor that it opened leads to standard output ... */
    CALL_TO_2 = 8, /* ... or error */
};

/* Followed by effects: uint64_t addr, uint64_t bytes, data padded to 8; until the record ends. */
struct record_call {
    struct record r;
    uint64_t hash; /* registers before the call */
    int64_t result;
};

/* flags of RECORD_SIGNAL and RECORD_FAULT */
enum {
    AT_TICK = 1,     /* when count is reached; else at the system call under way */
    BETWEEN = 1,     /* RECORD_YIELD, RECORD_END: the pc lies between two ticks */
    KILLED = 4,      /* RECORD_YIELD: the thread, a process of its own, ended there (pc 0: about) */
    YIELD_SPINS = 8, /* RECORD_YIELD: it only waited for others */
    MASKED = 2,      /* the call under way has a signal mask of its own, `mask` */
};

/* `rflags` is as the program's handler finds it, with flags that no instruction reads again. */
struct record_signal {
    struct record r;
    struct record_at at;
    uint64_t rflags, mask;
    uint8_t info[128]; /* siginfo_t */
};

struct record_fault {
    struct record r;
    struct record_at at;
    uint64_t rflags, trapno, error, cr2, forced;
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
    struct record_at at;
};

struct record_end {
    struct record r;
    struct record_at at;
    uint64_t ticks;  /* of all threads */
    uint32_t reason; /* enum end_reason */
    int32_t status;
};

_Static_assert(sizeof(struct record) == 8, "record");

#endif
