/* layout.h - offsets into struct thread that generated code and entry.S use.
 *
 * SPDX-License-Identifier: MIT
 *
 * GS points to the running thread's struct thread while the target runs. thread.h asserts that
 * these numbers are the real offsets. Included by assembler, so: only #defines.
 */
#ifndef ENGINE_CORE_LAYOUT_H
#define ENGINE_CORE_LAYOUT_H

#define T_SELF        0x00
#define T_LEFT        0x08
#define T_LIMIT       0x10
#define T_EXIT        0x18
#define T_SPILL_RAX   0x20
#define T_SPILL_RCX   0x28
#define T_SPILL_FLAGS 0x30
#define T_SPILL_S0    0x38
#define T_SPILL_S1    0x40
#define T_JUMP        0x48
#define T_HOST_SP     0x50
#define T_H_EXIT      0x58
#define T_H_INDIRECT  0x60
#define T_PENDING     0x68
#define T_GS_BASE     0x70
#define T_LOOKUP      0x78
#define T_GPR         0x80
#define T_RIP         0x100
#define T_RFLAGS      0x108
#define T_FLOW        0x110
#define T_XMM         0x140

/* The table of indirect transfers: LOOKUP_SIZE entries of {target pc, cache address}, indexed by
 * the low bits of the pc. */
#define LOOKUP_SIZE 131072

/* What a window system call returns when a signal came before it could happen (never a real errno).
 */
#define SYSCALL_ABORTED (-10000)

#endif
