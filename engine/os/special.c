/* special.c - system calls that need a little care. SPDX-License-Identifier: MIT */
#include "engine/os/special.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/control.h"
#include "engine/os/fpstate.h"
#include "engine/os/maps.h"
#include "engine/os/seccomp.h"
#include "engine/os/sending.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

/* ---- calls with a temporary signal mask ---- */

/* The mask at `at` is in force during the next call: delivery is told of it, and *kernel is the
 * copy for the kernel, in which hardware signals stay open. */
static bool use_mask(struct thread *t, gaddr at, uint64_t *kernel)
{
    if (!engine_read(&t->wait_mask, at, 8))
        return false;
    t->wait_mask &= ~(SIG_BIT(SIG_KILL) | SIG_BIT(SIG_STOP));
    t->has_wait_mask = true;
    *kernel = (t->wait_mask | engine.guest_signals) & ~SIG_SYNC;
    return true;
}

/* Runs call `nr` with the mask that argument `i` points to. */
static long with_mask(struct thread *t, long nr, long *a, int i)
{
    uint64_t kernel;
    if (!use_mask(t, (gaddr)a[i], &kernel))
        return -EFAULT;
    a[i] = (long)&kernel;
    return sending_interrupts(t) ? -EINTR : syscalls_pass(t, nr, a);
}

long special_sigsuspend(struct thread *t, long *a)
{
    return a[1] == 8 ? with_mask(t, __NR_rt_sigsuspend, a, 0) : -EINVAL;
}

long special_ppoll(struct thread *t, long *a)
{
    if (!a[3])
        return syscalls_pass(t, __NR_ppoll, a);
    return a[4] == 8 ? with_mask(t, __NR_ppoll, a, 3) : -EINVAL;
}

long special_epoll_pwait(struct thread *t, long *a)
{
    long nr = (int32_t)t->cpu.gpr[RAX];
    if (!a[4])
        return syscalls_pass(t, nr, a);
    return a[5] == 8 ? with_mask(t, nr, a, 4) : -EINVAL;
}

long special_pselect6(struct thread *t, long *a)
{
    long pair[2] = {0, 0};
    if (a[5] && !engine_read(pair, (gaddr)a[5], sizeof pair))
        return -EFAULT;
    if (!pair[0])
        return syscalls_pass(t, __NR_pselect6, a);
    if (pair[1] != 8)
        return -EINVAL;
    uint64_t kernel;
    if (!use_mask(t, (gaddr)pair[0], &kernel))
        return -EFAULT;
    pair[0] = (long)&kernel;
    a[5] = (long)pair;
    return sending_interrupts(t) ? -EINTR : syscalls_pass(t, __NR_pselect6, a);
}

/* One that spins by it would fill the log with these calls: it is gone for a while. */
long special_sched_yield(struct thread *t, long *a)
{
    if (schedule->controlled)
        return 0; /* it was asked at the call already */
    if (!spin_yield(t))
        return syscalls_pass(t, __NR_sched_yield, a);
    baton_rest(t);
    return 0;
}

/* ---- segments, tracing, confinement ---- */

long special_forbidden(struct thread *t, long *a)
{
    (void)t;
    (void)a;
    return -EACCES;
}

long special_arch_prctl(struct thread *t, long *a)
{
    enum { SET_GS = 0x1001, GET_GS = 0x1004, SET_CPUID = 0x1012, SHSTK = 0x5000 };
    enum { COMPONENTS_THERE = 0x1021, GRANTED, GRANT, GRANTED_GUEST, GRANT_GUEST };
    uint64_t components = fpstate_visible();
    switch (a[0]) {
    case SET_GS:
        if ((gaddr)a[1] >> 47)
            return -EPERM;
        t->gs_base = (uint64_t)a[1];
        return 0;
    case GET_GS:
        return engine_write((gaddr)a[1], &t->gs_base, 8) ? 0 : -EFAULT;
    case SET_CPUID:
        return -ENODEV; /* the runtime itself uses cpuid */
    case COMPONENTS_THERE:
    case GRANTED:
    case GRANTED_GUEST:
        return engine_write((gaddr)a[1], &components, 8) ? 0 : -EFAULT;
    case GRANT:
    case GRANT_GUEST:
        return (uint64_t)a[1] < 64 ? -EOPNOTSUPP : -EINVAL; /* tiles: fpstate.c hides them */
    default:
        if ((a[0] & ~0xfff) == SHSTK)
            return -EOPNOTSUPP; /* shadow stacks */
        return syscalls_pass(t, __NR_arch_prctl, a);
    }
}

/* The kernel knows the runtime's word only. */
static long tid_address(struct thread *t, long *a)
{
    long r = syscalls_pass(t, __NR_prctl, a);
    return r || engine_write((gaddr)a[1], &t->clear_tid, 8) ? r : -EFAULT;
}

long special_prctl(struct thread *t, long *a)
{
    enum { GET_SECCOMP = 21, SET_SECCOMP = 22, MODE_STRICT = 1, MODE_FILTER = 2 };
    enum { GET_TSC = 25, SET_TSC = 26, TSC_ENABLE = 1, TSC_SIGSEGV = 2, SET_MDWE = 65 };
    enum { GET_TID_ADDRESS = 40 };
    if (a[0] == GET_TID_ADDRESS)
        return tid_address(t, a);
    if (a[0] == SET_MDWE)
        return -EINVAL;    /* would deny the code cache its memory */
    if (a[0] == SET_TSC) { /* the runtime itself reads the counter */
        if (a[1] != TSC_ENABLE && a[1] != TSC_SIGSEGV)
            return -EINVAL;
        t->no_tsc = a[1] == TSC_SIGSEGV;
        return 0;
    }
    if (a[0] == GET_TSC)
        return engine_write((gaddr)a[1], &(int32_t){t->no_tsc ? TSC_SIGSEGV : TSC_ENABLE}, 4)
                   ? 0
                   : -EFAULT;
    if (a[0] == GET_SECCOMP)
        return seccomp_mode(t);
    if (a[0] != SET_SECCOMP)
        return syscalls_pass(t, __NR_prctl, a);
    if (a[1] != MODE_STRICT && a[1] != MODE_FILTER)
        return -EINVAL;
    long b[6] = {a[1] - 1, 0, a[1] == MODE_FILTER ? a[2] : 0};
    return seccomp_call(t, b);
}

/* ---- clocks: as cheap as the vDSO makes them ---- */

enum { NS_PER_S = 1000000000 };

static long (*vdso_clock_gettime)(long, void *);
static long (*vdso_gettimeofday)(void *, void *);
static long (*vdso_time)(void *);

void special_init(gaddr vdso)
{
    maps_vdso(vdso);
    vdso_clock_gettime = (long (*)(long, void *))maps_vdso_symbol("__vdso_clock_gettime");
    vdso_gettimeofday = (long (*)(void *, void *))maps_vdso_symbol("__vdso_gettimeofday");
    vdso_time = (long (*)(void *))maps_vdso_symbol("__vdso_time");
}

uint64_t special_now_ns(void)
{
    int64_t ts[2] = {0, 0};
    if (!vdso_clock_gettime || !maps_has_vdso() || vdso_clock_gettime(1, ts))
        sys2(__NR_clock_gettime, 1, (long)ts);
    return (uint64_t)ts[0] * 1000000000u + (uint64_t)ts[1];
}

long special_clock_gettime(struct thread *t, long *a)
{
    int64_t ts[2];
    spin_clock(t);
    if (schedule->controlled && control_knows((int)a[0])) {
        uint64_t now = control_clock((int)a[0]);
        ts[0] = (int64_t)(now / NS_PER_S);
        ts[1] = (int64_t)(now % NS_PER_S);
        return engine_write((gaddr)a[1], ts, sizeof ts) ? 0 : -EFAULT;
    }
    if (!vdso_clock_gettime || !maps_has_vdso())
        return syscalls_pass(t, __NR_clock_gettime, a);
    long r = vdso_clock_gettime((int)a[0], ts);
    if (r)
        return r;
    return engine_write((gaddr)a[1], ts, sizeof ts) ? 0 : -EFAULT;
}

long special_gettimeofday(struct thread *t, long *a)
{
    int64_t tv[2];
    int32_t tz[2];
    spin_clock(t);
    if (!vdso_gettimeofday || !maps_has_vdso())
        return syscalls_pass(t, __NR_gettimeofday, a);
    long r = vdso_gettimeofday(tv, tz);
    if (r)
        return r;
    if (schedule->controlled) {
        uint64_t now = control_clock(CONTROL_REALTIME);
        tv[0] = (int64_t)(now / NS_PER_S);
        tv[1] = (int64_t)(now % NS_PER_S / 1000);
    }
    if (a[0] && !engine_write((gaddr)a[0], tv, sizeof tv))
        return -EFAULT;
    return !a[1] || engine_write((gaddr)a[1], tz, sizeof tz) ? 0 : -EFAULT;
}

long special_time(struct thread *t, long *a)
{
    spin_clock(t);
    if (!vdso_time || !maps_has_vdso())
        return syscalls_pass(t, __NR_time, a);
    long now =
        schedule->controlled ? (long)(control_clock(CONTROL_REALTIME) / NS_PER_S) : vdso_time(NULL);
    return !a[0] || engine_write((gaddr)a[0], &now, 8) ? now : -EFAULT;
}
