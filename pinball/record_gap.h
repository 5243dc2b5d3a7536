/* record_gap.h - what a recording leaves out: a part of record.h. SPDX-License-Identifier: MIT
 *
 * docs/pinball.md, "A gap". Included by code inside the target and outside; no libc.
 */
#ifndef PINBALL_RECORD_GAP_H
#define PINBALL_RECORD_GAP_H

#include "pinball/record_state.h"

/* The running thread comes to `at`; then everything is as it was `insns` instructions later. So
 * many records follow that say how that is: RECORD_SIZE and RECORD_OBJECT of shared memory that was
 * changed by other means than stores, RECORD_MAP (PARTLY_GONE: nothing is mapped there),
 * RECORD_DATA, RECORD_PROCESS, RECORD_STATE of threads that are new or changed. Behind the struct
 * stand the threads that were changed, made or ended, a struct gap_thread each. Its flags have
 * BETWEEN. */
struct record_gap {
    struct record r;
    struct record_at at;
    uint64_t insns;    /* left out */
    uint64_t ticks;    /* of threads that have ended */
    uint64_t heap_end; /* of all that follows */
    uint32_t records;  /* that follow; those that may be skipped and RECORD_RANGE not counted */
    uint32_t thread;   /* that runs then */
    uint32_t made;     /* threads ever */
    uint32_t threads;  /* so many struct gap_thread */
};

struct gap_thread {
    uint32_t thread, ended;
    uint64_t count; /* then */
};

/* What a slice is made of, for those who walk it: struct kept_statement each. The statements of a
 * recording are in the order of their execution. */
struct record_kept {
    struct record r;
    uint64_t statements; /* that follow */
};

enum kept_how {
    KEPT_GOES_ON = 1, /* the statement was begun before, and goes on after something else */
    KEPT_IN_CALL =
        2, /* its thread may be in a system call there, while others ran: no place to go to */
};

struct kept_statement {
    uint64_t count, pc;           /* of its first instruction */
    uint64_t last_count, last_pc; /* of its last one, before anything else is executed */
    uint32_t thread, depth;       /* of calls */
    uint32_t how, pad;            /* enum kept_how */
};

#endif
