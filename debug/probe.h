/* probe.h - probes and the rows of values that they take, as they travel.
 *
 * SPDX-License-Identifier: MIT
 *
 * A probe is a place in the program's code and two pieces of bytecode (debug/bytecode.h): when to
 * take something, and what. The replaying process evaluates them at each execution and streams rows
 * out. The list goes in with DO_PROBES; rows come out with TELL_ROWS, many at a time. Both are
 * plain data without pointers. Neither side may trust the other's: probe_check.h.
 *
 * Included by code inside the target and outside; no libc.
 */
#ifndef DEBUG_PROBE_H
#define DEBUG_PROBE_H

#include <stdint.h>

enum {
    PROBES_MOST = 1 << 20,
    PROBES_AT_PC = 64,           /* the most that may be at one pc */
    PROBE_LIST_BYTES = 64 << 20, /* the most that a list may have, with its bytecode */
    PROBE_ROWS_BYTES = 1 << 20,  /* ... that is told at a time */
    PROBE_ROW_BYTES = 256 << 10, /* ... that one row may have */
};

/* Followed by its places (sorted by pc; those of one pc in the order of the list), then by the
 * bytecode. */
struct probe_list {
    uint32_t places, code_bytes;
};

struct probe_place {
    uint64_t pc;
    uint32_t index;               /* in the user's list */
    uint32_t when_at, when_bytes; /* in the bytecode; 0 bytes: always */
    uint32_t take_at, take_bytes; /* 0 bytes: nothing */
    uint32_t pad;
};

/* Followed by pieces. */
struct probe_taken {
    uint32_t bytes; /* with this header, a multiple of 8 */
    uint32_t probe; /* index in the user's list */
    uint32_t thread;
    uint8_t when, take; /* enum agent_result: of the evaluation */
    uint8_t undone;     /* no values: the instruction was not executed after all */
    uint8_t pad;
    uint64_t count, pc, ticks, value;
};

enum probe_piece_kind {
    PIECE_MEMORY = 1, /* at `where` */
    PIECE_STRING,     /* likewise, up to and with the first zero byte */
    PIECE_REGISTER,   /* number `where`: enum agent_register */
    PIECE_VALUE,      /* 8 bytes: a value from the stack; `where` is 0 */
    PIECE_FAILED,     /* what follows `try` failed: `where` is the enum agent_result */
};

enum probe_piece_end {
    PIECE_WHOLE,      /* all that was asked for is here */
    PIECE_UNREADABLE, /* memory behind these bytes cannot be read */
    PIECE_CUT,        /* the row has no room for more */
    PIECE_ENDLESS,    /* PIECE_STRING: as long as was asked for, without a zero byte */
};

/* Followed by `bytes` of contents, padded to 8. */
struct probe_piece {
    uint64_t where;
    uint32_t bytes;
    uint8_t kind, end; /* enum probe_piece_kind, enum probe_piece_end */
    uint16_t pad;
};

#endif
