/* agent.h - evaluate GDB agent expressions: the conditions of breakpoints, what probes take.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB compiles a condition to the bytecode of its manual's appendix "The GDB Agent Expression
 * Mechanism" and sends it along with the breakpoint, so that a breakpoint met a million times stops
 * once. All that a condition can hold is evaluated. Operations that take something (trace, and our
 * own of debug/bytecode.h) need somebody who takes it: probes do. What else only tracepoints have
 * (printf, state variables) and floating point, for which GDB makes no code either, are errors.
 *
 * The code is untrusted: evaluation reads nothing outside it, and ends. An expression that fails
 * counts as true for a breakpoint: GDB then evaluates the condition itself, and says what is wrong.
 */
#ifndef DEBUG_TARGET_AGENT_H
#define DEBUG_TARGET_AGENT_H

#include "debug/bytecode.h"
#include "engine/rt/types.h"
#include "engine/x86/cpu.h"

/* What an operation takes, of `a` and `b`. */
enum agent_take {
    AGENT_TAKE_MEMORY,   /* from address a on, b bytes */
    AGENT_TAKE_STRING,   /* the same, not beyond a zero byte */
    AGENT_TAKE_REGISTER, /* number a, whose value is b */
    AGENT_TAKE_VECTOR,   /* register number a, which has more than 64 bits */
    AGENT_TAKE_VALUE,    /* a */
    AGENT_TAKE_FAILURE,  /* enum agent_result a, behind `try` */
};

struct agent_state {
    const struct cpu_state *cpu;
    uint64_t orig_rax; /* -1 unless in a system call */
    gaddr fs_base, gs_base;
    bool (*read)(void *arg, gaddr addr, void *out, size_t bytes); /* all of it, or false */
    /* NULL: operations that take are errors. AGENT_DONE, or why it cannot be; memory that cannot be
     * read is no reason. */
    enum agent_result (*take)(void *arg, enum agent_take what, uint64_t a, uint64_t b);
    void *arg;
};

/* *value is set with AGENT_DONE only. */
enum agent_result agent_eval(const uint8_t *code, uint32_t bytes, const struct agent_state *state,
                             uint64_t *value);

/* What is wrong with the code whatever the state: an operation, a register, a jump, its end. NULL:
 * nothing. Stack, memory and divisors are seen when it is evaluated. */
const char *agent_check(const uint8_t *code, uint32_t bytes);
const char *agent_check_take(const uint8_t *code, uint32_t bytes); /* of a probe */

const char *agent_text(enum agent_result result);

#endif
