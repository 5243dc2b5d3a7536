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
 * BETWEEN. Behind all that there are RECORD_SAID, if what was written is to appear, and then a
 * RECORD_DID for each thread that is new or changed. */
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

/* flags of a RECORD_DATA there */
enum {
    GAP_WROTE = 1, /* an instruction or a call has written these bytes; else, a new mapping's */
    GAP_HOLES = 2, /* ... but only some: a bit for each stands behind them, padded to 8 bytes */
};

/* What a thread did in a gap, for a trace: frames of calls that it left, of those it had; frames
 * that it made since, the outermost first; and a bit for each of its registers that it wrote:
 * enum gap_register. */
struct record_did {
    struct record r;
    uint32_t thread, left;
    uint64_t wrote;
    uint32_t frames, began; /* so many struct gap_frame follow; 1: it was made there */
};

struct gap_frame {
    uint64_t slot, entry, call_pc; /* of the return address; of the function; of the call */
    uint32_t kind, resolver;       /* as struct frame has it (trace/frames.h) */
};

/* General registers come first, in the order of enum gpr, then vectors. */
enum gap_register {
    GAP_VECTORS = 16,
    GAP_MASKS = GAP_VECTORS + 32,
    GAP_X87,
    GAP_FLAGS,
    GAP_REST,
    GAP_REGISTERS,
};

/* What was written to standard output or error in a gap; the bytes follow. */
struct record_said {
    struct record r;
    uint32_t to; /* 1 or 2; 3: to the terminal */
    int32_t fd;
    uint64_t bytes;
};

/* What the whole recording has shown of its code, for a trace: struct code_way each. */
struct record_ways {
    struct record r;
    uint64_t ways; /* that follow */
};

enum way_kind {
    WAY_ENTRY,  /* a function begins at pc */
    WAY_TARGET, /* the jump at pc went to `to` */
    WAY_STAYS,  /* the call at pc never returned */
};

struct code_way {
    uint64_t kind, pc, to;
};

/* What a slice is made of, for those who walk it: struct kept_statement each, in the order of their
 * execution. Version 0.2 lists them so; since then they are packed. */
struct record_kept {
    struct record r;
    uint64_t statements; /* that follow */
};

/* The same, packed: so many bytes of a list (pinball/steplist.h), which goes on in the next. */
struct record_steps {
    struct record r;
    uint64_t length;
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
