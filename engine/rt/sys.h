/* sys.h - raw system calls for the runtime, and the few constants libc headers would bring.
 *
 * SPDX-License-Identifier: MIT
 *
 * Results are the kernel's: a negative errno on failure. These calls are the runtime's own; a
 * system call of the target goes through os/syscalls.c and the interruptible window in
 * core/entry.S.
 */
#ifndef ENGINE_RT_SYS_H
#define ENGINE_RT_SYS_H

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/mman.h>

#include "engine/rt/types.h"

#define SYS_FAILED(r) ((uint64_t)(r) > (uint64_t)-4096)

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

static inline long sys4(long nr, long a, long b, long c, long d)
{
    return sys6(nr, a, b, c, d, 0, 0);
}

static inline long sys3(long nr, long a, long b, long c)
{
    return sys6(nr, a, b, c, 0, 0, 0);
}

static inline long sys2(long nr, long a, long b)
{
    return sys6(nr, a, b, 0, 0, 0, 0);
}

static inline long sys1(long nr, long a)
{
    return sys6(nr, a, 0, 0, 0, 0, 0);
}

static inline long sys0(long nr)
{
    return sys6(nr, 0, 0, 0, 0, 0, 0);
}

/* PROT_* and MAP_* come from <linux/mman.h>; MAP_PRIVATE from its uapi include. */

#endif
