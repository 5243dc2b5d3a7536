/* ahead.h - what a thread would do next, on the memory as it is: a little machine.
 *
 * SPDX-License-Identifier: MIT
 *
 * It knows the plain instructions of conditions: moves, sums, comparisons, calls of the user's own
 * functions. It writes to memory of its own. Each value remembers which bytes of memory it was made
 * from, up to 32 places. An instruction that it does not know ends it; nothing is guessed.
 */
#ifndef FACTS_HANG_AHEAD_H
#define FACTS_HANG_AHEAD_H

#include "engine/x86/insn.h"
#include "facts/hang/stack.h"

enum { AHEAD_PLACES = 32, AHEAD_WRITES = 128 };

struct ahead_value {
    uint64_t value;
    bool known;
    uint32_t from; /* a bit for each place */
};

struct ahead {
    struct study *study;
    const struct stack_memory *memory;
    gaddr fs_base, pc;
    struct ahead_value reg[16]; /* as instructions number them */
    struct {
        gaddr addr;
        uint32_t bytes;
    } place[AHEAD_PLACES]; /* memory that was read */
    unsigned places;
    struct {
        gaddr addr;
        uint32_t bytes;
        struct ahead_value v;
    } write[AHEAD_WRITES]; /* the last of the same place counts */
    unsigned writes;
    /* The last comparison. */
    bool zero, sign, carry, overflow;
    bool flags_known;
    uint32_t flags_from;
};

void ahead_begin(struct ahead *a, struct study *s, const struct stack_memory *memory,
                 const struct stack_frame *frame, gaddr fs_base);

/* The instruction that comes next. False: it cannot be read. */
bool ahead_fetch(const struct ahead *a, gaddr pc, struct insn *in);

/* Executes it, and goes on to the next one. False: it is not known, or needs what is not known. */
bool ahead_step(struct ahead *a, const struct insn *in);

/* Whether a conditional instruction's condition holds: 1, 0; -1: not known. */
int ahead_condition(const struct ahead *a, const struct insn *in);

#endif
