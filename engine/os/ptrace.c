/* ptrace.c - the one use of ptrace that works under the engine. SPDX-License-Identifier: MIT */
#include "engine/os/ptrace.h"

#include <linux/ptrace.h>

#include "engine/core/engine.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { NT_PRSTATUS_ = 1 };

/* user_regs_struct: places of the registers in the order of their hardware numbers */
static const uint8_t place[GPR_COUNT] = {10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0};
enum { PLACE_RIP = 16, PLACE_FLAGS = 18, PLACE_GS_BASE = 22, PLACES = 27 };

static struct thread *same_memory(const struct thread *t, long tid)
{
    struct thread *o = engine.threads;
    while (o && (o->tid != tid || o->process == t->process))
        o = o->next;
    return o;
}

static long show_registers(const struct thread *o, gaddr at)
{
    uint64_t r[PLACES];
    if (!engine_read(r, at, sizeof r))
        return -EFAULT;
    for (int i = 0; i < GPR_COUNT; i++)
        r[place[i]] = o->cpu.gpr[i];
    r[PLACE_RIP] = o->cpu.rip;
    r[PLACE_FLAGS] = o->cpu.rflags;
    r[PLACE_GS_BASE] = o->gs_base;
    return engine_write(at, r, sizeof r) ? 0 : -EFAULT;
}

long ptrace_call(struct thread *t, long *a)
{
    static bool told;
    struct thread *o = threads_is_side(t) ? same_memory(t, a[1]) : NULL;
    if (!o) {
        if (!told)
            rt_say("ptrace: not available to a program under drdebug");
        told = true;
        return -EPERM;
    }
    struct {
        gaddr base;
        uint64_t len;
    } vec;
    long r = sys4(__NR_ptrace, a[0], a[1], a[2], a[3]);
    if (r < 0)
        return r;
    switch (a[0]) {
    case PTRACE_ATTACH:
    case PTRACE_SEIZE:
        t->attached++; /* a stopped thread may hold the baton's lock: no more giving away */
        return r;
    case PTRACE_DETACH:
        t->attached--;
        return r;
    case PTRACE_GETREGS:
        return show_registers(o, (gaddr)a[3]);
    case PTRACE_GETREGSET:
        if (a[2] != NT_PRSTATUS_)
            return r;
        return engine_read(&vec, (gaddr)a[3], sizeof vec) ? show_registers(o, vec.base) : -EFAULT;
    default:
        return r;
    }
}
