/* record_state.h - the state that a recording begins with in the middle: a part of record.h.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/pinball.md, "A part". Included by code inside the target and outside; no libc.
 */
#ifndef PINBALL_RECORD_STATE_H
#define PINBALL_RECORD_STATE_H

#include "pinball/record.h"

/* A recording that begins in the middle has its whole state in place of RECORD_START. Behind
 * RECORD_IMAGE come the runtime's ranges, shared memory (RECORD_SIZE, RECORD_OBJECT), mappings,
 * data, and for each process RECORD_PROCESS with the states of its threads. */
enum { PROCESS_SIGNALS = 64, PROCESS_FDS = 1024 };

struct record_action {
    uint64_t handler, flags, restorer, mask;
};

/* flags of RECORD_PROCESS */
enum {
    PROCESS_SIDE = 1,     /* it shares the memory of the first one: a child of vfork, or ... */
    PROCESS_DETACHED = 2, /* ... nobody waits for it */
    PROCESS_LAST = 4,     /* with its threads the state is complete */
};

struct record_process {
    struct record r;
    uint64_t heap_start, heap_end, vdso, features; /* as in struct record_start */
    uint64_t ticks;                                /* of threads that have ended, all programs */
    uint32_t threads;                              /* so many RECORD_STATE follow */
    uint32_t made;                                 /* threads ever: the highest number */
    int32_t pid, pad;
    struct record_action action[PROCESS_SIGNALS + 1]; /* by number */
    uint8_t leads_to[PROCESS_FDS];                    /* 1 and 2: standard output and error */
};

/* flags of RECORD_STATE */
enum {
    STATE_RUNS = 1,            /* the recording begins with this one */
    STATE_CALLING = 2,         /* it is in the system call at its pc */
    STATE_NO_TSC = 4,          /* prctl(PR_SET_TSC): rdtsc faults */
    STATE_WAITS = 8,           /* the call has a signal mask of its own, wait_mask */
    STATE_TRAPS = 16,          /* the trap flag is set ... */
    STATE_ARMED = 32,          /* ... and raises SIGTRAP after the next instruction */
    STATE_TICKED = 64,         /* it is at a tick that is counted */
    STATE_READS_EXECUTE = 128, /* personality(READ_IMPLIES_EXEC) */
};

struct record_state {
    struct record r;
    struct record_at at;
    uint64_t gpr[16], rflags, fs_base, gs_base;
    uint64_t mask, wait_mask;
    uint64_t altstack, altstack_bytes;
    uint64_t clear_tid, start_tid, robust_list;
    int32_t tid; /* 0: it has not begun */
    int32_t altstack_flags;
    uint32_t thread, child; /* number; of the one that its call is making, 0: none */
    char name[16];
    uint64_t vector_bytes; /* of the standard xsave area that follows */
};

#endif
