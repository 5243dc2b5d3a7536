/* kernel.h - the kernel's signal structures, as x86-64 lays them out.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_OS_KERNEL_H
#define ENGINE_OS_KERNEL_H

#include "engine/core/thread.h"

enum {
    SIG_ILL = 4,
    SIG_TRAP = 5,
    SIG_ABRT = 6,
    SIG_BUS = 7,
    SIG_FPE = 8,
    SIG_KILL = 9,
    SIG_SEGV = 11,
    SIG_CHLD = 17,
    SIG_STOP = 19,
    SIG_SYS = 31,
    SIG_MAX = 64,
};

#define SIG_BIT(s) (1ull << ((s)-1))
/* Signals that the hardware raises: the kernel must never find them blocked. */
#define SIG_SYNC                                                                                   \
    (SIG_BIT(SIG_ILL) | SIG_BIT(SIG_TRAP) | SIG_BIT(SIG_BUS) | SIG_BIT(SIG_FPE) | SIG_BIT(SIG_SEGV))

#define SA_NOCLDSTOP_ 0x00000001ull
#define SA_NOCLDWAIT_ 0x00000002ull
#define SA_SIGINFO_   0x00000004ull
#define SA_RESTORER_  0x04000000ull
#define SA_ONSTACK_   0x08000000ull
#define SA_RESTART_   0x10000000ull
#define SA_NODEFER_   0x40000000ull
#define SA_RESETHAND_ 0x80000000ull

#define HANDLER_DEFAULT 0
#define HANDLER_IGNORE  1

struct ksigaction {
    gaddr handler;
    uint64_t flags;
    gaddr restorer;
    uint64_t mask;
};

enum { SS_ONSTACK_ = 1, SS_DISABLE_ = 2, SS_AUTODISARM_ = (int32_t)(1u << 31) };

struct ksigcontext {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip;
    uint64_t rflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2;
    gaddr fpstate;
    uint64_t reserved[8];
};

struct kucontext {
    uint64_t flags;
    gaddr link;
    struct sigstack stack;
    struct ksigcontext mc;
    uint64_t mask;
};

/* What a signal handler finds at its stack pointer. */
struct ksigframe {
    gaddr return_address;
    struct kucontext uc;
    struct siginfo_raw info;
};

_Static_assert(sizeof(struct siginfo_raw) == 128, "siginfo");
_Static_assert(sizeof(struct sigstack) == 24, "stack_t");
_Static_assert(offsetof(struct kucontext, mask) == 40 + 256, "ucontext");

/* The process that threads belong to. A vfork child has one of its own until it execs or ends. */
struct process {
    int32_t pid;
    struct held held;
    struct ksigaction action[SIG_MAX + 1];
};

#endif
