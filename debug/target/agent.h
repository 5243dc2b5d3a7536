/* agent.h - evaluate GDB agent expressions: the conditions of breakpoints.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB compiles a condition to the bytecode of its manual's appendix "The GDB Agent Expression
 * Mechanism" and sends it along with the breakpoint, so that a breakpoint met a million times stops
 * once. All that a condition can hold is evaluated; what only tracepoints have (trace, printf,
 * state variables) and floating point, for which GDB makes no code either, are errors.
 *
 * The code is untrusted: evaluation reads nothing outside it, and ends. An expression that fails
 * counts as true for a breakpoint: GDB then evaluates the condition itself, and says what is wrong.
 */
#ifndef DEBUG_TARGET_AGENT_H
#define DEBUG_TARGET_AGENT_H

#include "engine/rt/types.h"
#include "engine/x86/cpu.h"

enum { AGENT_BYTES = 4096, AGENT_STACK = 100, AGENT_STEPS = 10000 };

/* Registers are numbered in the order of the target description: rax, rbx, rcx, rdx, rsi, rdi, rbp,
 * rsp, r8 to r15, then these. */
enum agent_register {
    AGENT_RIP = 16,
    AGENT_EFLAGS,
    AGENT_CS, /* and ss, ds, es, fs, gs */
    AGENT_GS = 23,
    AGENT_ORIG_RAX = 57, /* behind st0-7, their eight control registers, xmm0-15 and mxcsr */
    AGENT_FS_BASE,
    AGENT_GS_BASE,
};

enum agent_result {
    AGENT_DONE,
    AGENT_BAD_OPCODE,  /* no operation has this code */
    AGENT_UNSUPPORTED, /* one that no condition has */
    AGENT_OUTSIDE,     /* runs, or jumps, out of the code */
    AGENT_STACK_EMPTY, /* takes more values than there are */
    AGENT_STACK_FULL,  /* more than AGENT_STACK values */
    AGENT_DIVISION,    /* by zero */
    AGENT_UNREADABLE,  /* memory */
    AGENT_NO_REGISTER, /* one that is not in struct agent_state */
    AGENT_TOO_LONG,    /* more than AGENT_STEPS operations, or AGENT_BYTES of code */
    AGENT_RESULTS
};

struct agent_state {
    const struct cpu_state *cpu;
    uint64_t orig_rax; /* -1 unless in a system call */
    gaddr fs_base, gs_base;
    bool (*read)(void *arg, gaddr addr, void *out, size_t bytes); /* all of it, or false */
    void *arg;
};

/* *value is set with AGENT_DONE only. */
enum agent_result agent_eval(const uint8_t *code, uint32_t bytes, const struct agent_state *state,
                             uint64_t *value);

/* What is wrong with the code whatever the state: an operation, a register, a jump, its end. NULL:
 * nothing. Stack, memory and divisors are seen when it is evaluated. */
const char *agent_check(const uint8_t *code, uint32_t bytes);

const char *agent_text(enum agent_result result);

#endif
