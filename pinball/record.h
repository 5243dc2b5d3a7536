/* record.h - what the event log of a pinball holds, as bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/pinball.md, section "Records". Included by code inside the target and outside; no libc. A
 * change here is a change of the format: PINBALL_VERSION in format.h. A new kind that older readers
 * may skip is none. The records about memory are in record_memory.h.
 */
#ifndef PINBALL_RECORD_H
#define PINBALL_RECORD_H

#include <stdint.h>

#include "pinball/end_reason.h"
#include "pinball/record_head.h"
#include "pinball/record_memory.h"

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
    AT_TICK = 1,     /* when count is reached; else at the system call under way. RECORD_STOP and
                        RECORD_POKE: or where the thread is over; with it, BETWEEN is meant, too */
    BETWEEN = 1,     /* RECORD_YIELD, RECORD_END, RECORD_MEMORY: the pc lies between two ticks */
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

/* What a debugger changed in the program while it was recorded. `at` and `rflags` are the running
 * thread's before, if flags have AT_TICK; else that thread is in a system call, or over. A change
 * of its pc ticks. */
struct record_poke {
    struct record r;
    struct record_at at;
    uint64_t rflags;
    uint32_t thread;       /* whose registers: struct poke_registers follows; 0: memory */
    uint32_t vector_bytes; /* that follow the registers; 0: these stay */
    uint64_t addr, bytes;  /* memory: what it holds now follows */
};

struct poke_registers {
    uint64_t gpr[16], rip, rflags;
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

struct record_end {
    struct record r;
    struct record_at at;
    uint64_t ticks;  /* of all threads */
    uint32_t reason; /* enum end_reason */
    int32_t status;
};

#endif
