/* bytecode.h - the bytecode of conditions and probes: operations, registers, results.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB's manual has it in the appendix "The GDB Agent Expression Mechanism". Operands in the code
 * are big-endian. Operations from 0x80 on are our own; GDB never sends them. They leave pieces
 * (debug/probe.h) in a probe's row, as the trace operations do:
 *
 *     take_register N(2)   -> ; a piece: register N, vector registers too
 *     take_value           V -> ; a piece: the 8 bytes of V
 *     try AT(2)            if an operation behind it fails, a piece says so, and evaluation goes on
 *                          at AT with the stack as it is now. Each replaces the one before.
 *
 * Included by code inside the target and outside; no libc.
 */
#ifndef DEBUG_BYTECODE_H
#define DEBUG_BYTECODE_H

enum { AGENT_BYTES = 4096, AGENT_STACK = 100, AGENT_STEPS = 10000 };

enum agent_op {
    OP_FLOAT = 0x01,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV_SIGNED,
    OP_DIV_UNSIGNED,
    OP_REM_SIGNED,
    OP_REM_UNSIGNED,
    OP_LSH,
    OP_RSH_SIGNED,
    OP_RSH_UNSIGNED,
    OP_TRACE, /* addr size -> */
    OP_TRACE_QUICK,
    OP_LOG_NOT,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_NOT,
    OP_EQUAL,
    OP_LESS_SIGNED,
    OP_LESS_UNSIGNED,
    OP_EXT,
    OP_REF8,
    OP_REF16,
    OP_REF32,
    OP_REF64,
    OP_REF_FLOAT,
    OP_REF_DOUBLE,
    OP_REF_LONG_DOUBLE,
    OP_L_TO_D,
    OP_D_TO_L,
    OP_IF_GOTO,
    OP_GOTO,
    OP_CONST8,
    OP_CONST16,
    OP_CONST32,
    OP_CONST64,
    OP_REG,
    OP_END,
    OP_DUP,
    OP_POP,
    OP_ZERO_EXT,
    OP_SWAP,
    OP_GETV,
    OP_SETV,
    OP_TRACEV,
    OP_TRACENZ, /* addr size -> ; up to a zero byte, which is taken, too */
    OP_TRACE16,
    OP_PICK = 0x32,
    OP_ROT,
    OP_PRINTF,
    OP_TAKE_REGISTER = 0x80,
    OP_TAKE_VALUE,
    OP_TRY,
};

/* Registers are numbered in the order of the target description. */
enum agent_register {
    AGENT_RAX = 0,
    AGENT_RBX,
    AGENT_RCX,
    AGENT_RDX,
    AGENT_RSI,
    AGENT_RDI,
    AGENT_RBP,
    AGENT_RSP,
    AGENT_R8, /* to r15 */
    AGENT_RIP = 16,
    AGENT_EFLAGS,
    AGENT_CS, /* and ss, ds, es, fs, gs */
    AGENT_GS = 23,
    AGENT_ST0 = 24,  /* to st7, 10 bytes each: take_register only, as all vector registers */
    AGENT_XMM0 = 40, /* to xmm15, 16 bytes each */
    AGENT_MXCSR = 56,
    AGENT_ORIG_RAX,
    AGENT_FS_BASE,
    AGENT_GS_BASE,
    AGENT_YMM0H, /* the upper halves of ymm0 to ymm15, 16 bytes each */
    AGENT_REGISTERS = 76,
};

/* 8: one with a value, for `reg`. Others can only be taken. 0: there is no such register. */
static inline unsigned agent_register_bytes(unsigned long long number)
{
    if (number <= AGENT_GS || (number >= AGENT_ORIG_RAX && number <= AGENT_GS_BASE))
        return 8;
    if (number >= AGENT_ST0 && number < AGENT_ST0 + 8)
        return 10;
    if (number == AGENT_MXCSR)
        return 4;
    return number >= AGENT_XMM0 && number < AGENT_REGISTERS ? 16 : 0;
}

enum agent_result {
    AGENT_DONE,
    AGENT_BAD_OPCODE,  /* no operation has this code */
    AGENT_UNSUPPORTED, /* one that no condition has */
    AGENT_OUTSIDE,     /* runs, or jumps, out of the code */
    AGENT_STACK_EMPTY, /* takes more values than there are */
    AGENT_STACK_FULL,  /* more than AGENT_STACK values */
    AGENT_DIVISION,    /* by zero */
    AGENT_UNREADABLE,  /* memory */
    AGENT_NO_REGISTER, /* one that is not there */
    AGENT_TOO_LONG,    /* more than AGENT_STEPS operations, or AGENT_BYTES of code */
    AGENT_ROW_FULL,    /* more pieces than a row has room for */
    AGENT_RESULTS
};

#endif
