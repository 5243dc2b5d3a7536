/* flow.h - what a replay tells that is traced.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two streams, handed over piece by piece. `words` is written by translated code
 * (engine/core/flow.h): for each block executed its number and its slots. `notes` is written by the
 * runtime: which blocks there are, which thread runs, what the kernel did. A note's `at` says how
 * many words were written before it, since the beginning; so both together have one order, which is
 * that of the execution.
 *
 * The reader must not trust any of it (flow_note.h): the process may have overwritten it.
 * Included by code inside the target; no libc.
 */
#ifndef DEBUG_FLOW_H
#define DEBUG_FLOW_H

#include <stdint.h>

enum flow_kind {
    FLOW_BLOCK = 1, /* struct flow_block: comes before its first word */
    FLOW_THREAD,    /* struct flow_thread: words are this thread's from here on */
    FLOW_CUT,       /* struct flow_cut: the last block was left in the middle */
    FLOW_CALL,      /* struct flow_call: the system call that ends the last block is done */
    FLOW_SIGNAL,    /* struct flow_signal: the thread goes on in a handler */
    FLOW_ACCESS,    /* struct flow_access: an instruction whose addresses no slot tells */
    FLOW_BEGIN,     /* struct flow_begin: a thread was made */
    FLOW_GAP,       /* struct flow_gap: the recording leaves instructions out here */
    FLOW_DID,       /* struct flow_did: what the thread that runs did in them */
};

struct flow_note {
    uint32_t kind, bytes; /* bytes: with this header, a multiple of 8 */
    uint64_t at;
    uint64_t count; /* ticks of the thread that runs */
};

/* Followed by the instructions' lengths, a byte each, then their bytes. */
struct flow_block {
    struct flow_note note;
    uint32_t number, insns;
    uint64_t pc;
};

struct flow_thread {
    struct flow_note note;
    uint32_t thread;
    uint32_t in_gap; /* 1: it ran, or begins to, where instructions are left out */
    uint64_t pc;
};

/* The instruction at pc was not executed. If no instruction of the last block is there, nothing was
 * left: a transfer to where no code is. */
struct flow_cut {
    struct flow_note note;
    uint64_t pc;
};

enum { FLOW_READ = 1, FLOW_WRITE = 2, FLOW_MOVE = 3 /* a write of what the range before held */ };

/* A program's memory ends there; ranges lie below. */
#define FLOW_ADDRESSES (1ull << 47)

struct flow_range {
    uint64_t addr;
    uint64_t bytes : 56, how : 8;
};

struct flow_call {
    struct flow_note note;
    int64_t nr, result;
    uint64_t arg[6];
    uint64_t next;  /* where the thread goes on */
    uint64_t frame; /* rt_sigreturn: where it was */
    struct flow_range range[];
};

struct flow_signal {
    struct flow_note note;
    uint32_t signal, fault; /* fault: raised by the instruction at pc */
    uint64_t pc, handler;
    uint64_t frame, end; /* memory that was written */
    uint64_t fpstate;    /* in it */
    uint64_t sp;         /* that it came to */
};

struct flow_access {
    struct flow_note note;
    uint64_t pc;
    struct flow_range range[];
};

struct flow_begin {
    struct flow_note note;
    uint32_t thread, parent;
};

/* In a trace it is one instruction, which does all that those did: a system call of number
 * FLOW_LEFT_OUT, whose note follows. arg[0] is their number, arg[1] the registers that the thread
 * wrote. Then comes a struct flow_did for each thread that is new or was changed: of this thread,
 * and behind a struct flow_thread for each of the others. */
struct flow_gap {
    struct flow_note note;
    uint64_t pc; /* of the first of them */
};

enum { FLOW_LEFT_OUT = -4096 };

static inline int flow_is_left_out(const struct flow_call *c)
{
    return c->nr < 0; /* no system call's */
}

/* As struct gap_frame has it. */
struct flow_frame {
    uint64_t slot, entry, call_pc;
    uint32_t kind, resolver;
};

enum flow_how {
    FLOW_OWN = 1,   /* the thread that ran when the gap began */
    FLOW_BEGAN = 2, /* it was made in the gap */
};

/* Frames that it left, of those that it had, and that it made since; a bit for each of its
 * registers that were written (enum gap_register). */
struct flow_did {
    struct flow_note note;
    uint32_t how, left; /* enum flow_how */
    uint64_t wrote, pc; /* where it goes on */
    struct flow_frame frame[];
};

enum { FLOW_WORDS_BYTES = 4 << 20, FLOW_WORDS_SLACK = 64 << 10, FLOW_NOTES_BYTES = 1 << 20 };

#endif
