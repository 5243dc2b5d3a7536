/* types.h - the words every part of the engine uses.
 *
 * SPDX-License-Identifier: MIT
 *
 * The code under engine/{rt,x86,core,os} runs inside the target process: it has no libc, no TLS of
 * its own and must not touch SSE registers (they hold the target's values). Only compiler-provided
 * headers and kernel ABI headers may be included here.
 */
#ifndef ENGINE_RT_TYPES_H
#define ENGINE_RT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t gaddr; /* an address of the target; never dereferenced without care */

#define PAGE_BYTES                    4096ull
#define PAGE_DOWN(a)                  ((gaddr)(a) & ~(PAGE_BYTES - 1))
#define PAGE_UP(a)                    (((gaddr)(a) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1))
#define ARRAY_LEN(a)                  (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/* General registers in the order of their hardware numbers. */
enum gpr {
    RAX,
    RCX,
    RDX,
    RBX,
    RSP,
    RBP,
    RSI,
    RDI,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    GPR_COUNT
};

/* The six arithmetic flags, as they stand in RFLAGS. */
enum {
    FLAG_CF = 1 << 0,
    FLAG_PF = 1 << 2,
    FLAG_AF = 1 << 4,
    FLAG_ZF = 1 << 6,
    FLAG_SF = 1 << 7,
    FLAG_TF = 1 << 8,
    FLAG_DF = 1 << 10,
    FLAG_OF = 1 << 11,
    FLAG_AC = 1 << 18,
    FLAGS_SETTABLE = 0x240dd5, /* that a debugger may change: arithmetic, DF, TF, AC, ID */
    FLAGS_ARITH = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF,
};

#endif
