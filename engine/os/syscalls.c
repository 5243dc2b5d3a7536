/* syscalls.c - the target's system calls. SPDX-License-Identifier: MIT */
#include "engine/os/syscalls.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/os/control.h"
#include "engine/os/effects.h"
#include "engine/os/futex.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/os/memory.h"
#include "engine/os/procfs.h"
#include "engine/os/ptrace.h"
#include "engine/os/seccomp.h"
#include "engine/os/sending.h"
#include "engine/os/signals.h"
#include "engine/os/special.h"
#include "engine/os/terminal.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"
#include "engine/start/exec.h"

typedef long handler_fn(struct thread *t, long *a);

static handler_fn *const handlers[] = {
#define SYSCALL(nr, name, args, how, handler, ...) [nr] = handler,
#include "engine/os/syscalls.def"
#undef SYSCALL
};

/* Waits without the baton: the kernel must not write target memory meanwhile. */
__attribute__((noinline)) static long wait_for(struct thread *t, long nr, const long a[6])
{
    struct divert d;
    long b[6], error, r;
    bool again;
    if (engine.guested && terminal_waits(nr, a) && terminal_read(t, nr, a, &r))
        return r;
    do {
        bool diverted = effects_divert(t, nr, a, b, &d, &error);
        if (error)
            return error;
        const uint64_t runs = engine.guest_runs;
        baton_drop(t);
        r = engine_syscall(nr, diverted ? b : a);
        baton_acquire(t);
        again = r > 0 && runs != engine.guest_runs && terminal_looks(nr);
        if (again)
            r = t->pending ? -EINTR : -EAGAIN;
        again = again && !t->pending;
        r = diverted ? effects_deliver(t, &d, r) : r;
    } while (again);
    return r;
}

static bool may_wait(long nr, const long a[6])
{
    enum { SETLKW = 7, OFD_SETLKW = 38 };
    return (call_info(nr)->how == CALL_BLOCKS && !effects_through(nr, a)) ||
           (kinds_of(nr).does == DOES_CONTROLS && (a[1] == SETLKW || a[1] == OFD_SETLKW));
}

/* A small write for which there is room does not wait. Made with the baton held, its place among
 * the others' is that of the log. */
static bool is_quick_write(long nr, const long a[6])
{
    enum { ATOMIC = 4096, OUT = 4, SOME = 16 };
    uint64_t bytes = (uint64_t)a[2];
    if (nr == __NR_writev) {
        struct {
            gaddr base;
            uint64_t len;
        } v[SOME];
        if (a[2] < 1 || a[2] > SOME || !engine_read(v, (gaddr)a[1], sizeof v[0] * (size_t)a[2]))
            return false;
        bytes = 0;
        for (long i = 0; i < a[2]; i++)
            bytes = v[i].len > ATOMIC ? ATOMIC + 1 : bytes + v[i].len;
    } else if (nr != __NR_write) {
        return false;
    }
    struct {
        int32_t fd;
        int16_t events, seen;
    } poll = {(int32_t)a[0], OUT, 0};
    return bytes <= ATOMIC && sys3(__NR_poll, (long)&poll, 1, 0) == 1 && (poll.seen & OUT);
}

/* Inline: it is in the way of each call. */
static inline __attribute__((always_inline)) long pass(struct thread *t, long nr, const long a[6])
{
    const bool others = engine.thread_count > 1 || engine.guested || engine.visited;
    const bool waits = (others || schedule->controlled) && !t->attached && may_wait(nr, a);
    long r;
    if (waits && schedule->controlled && control_call(t, nr, a, &r))
        return r;
    if (waits && others && !is_quick_write(nr, a))
        return wait_for(t, nr, a);
    return engine_syscall(nr, a);
}

long syscalls_pass(struct thread *t, long nr, const long a[6])
{
    return pass(t, nr, a);
}

static long unknown(const struct thread *t, long nr)
{
    enum { NUMBERS = 640 };
    static uint64_t told[NUMBERS / 64];
    /* Numbers that no kernel has are for the target's own error handling. */
    if (nr >= 0 && nr < NUMBERS && !(told[nr / 64] >> (nr % 64) & 1)) {
        told[nr / 64] |= 1ull << (nr % 64);
        rt_say("system call %ld: not supported (pc 0x%lx)", nr, t->cpu.rip);
    }
    return -ENOSYS;
}

static void say_unknown_command(const struct thread *t, const char *name, uint32_t command)
{
    static uint32_t told[16], count;
    for (uint32_t i = 0; i < count; i++)
        if (told[i] == command)
            return;
    if (count == ARRAY_LEN(told))
        return;
    told[count++] = command;
    rt_say("%s 0x%x: not supported (pc 0x%lx)", name, command, t->cpu.rip);
}

/* Natively a descriptor that is none comes before a request that is none. */
static long bad_descriptor(long nr, const long a[6])
{
    enum { GETFL = 3, PATH = 010000000, LEVEL = 1, TYPE = 3 };
    int32_t type, bytes = sizeof type;
    long r = 0;
    if (nr == __NR_ioctl || nr == __NR_fcntl) {
        r = sys2(__NR_fcntl, a[0], GETFL);
        return r >= 0 && (r & PATH) ? -EBADF : r;
    }
    if (nr == __NR_setsockopt || nr == __NR_getsockopt)
        r = sys6(__NR_getsockopt, a[0], LEVEL, TYPE, (long)&type, (long)&bytes, 0);
    return r;
}

/* /proc/self/mem may be behind a descriptor that is written to. */
static bool may_write_memory(long nr)
{
    switch (kinds_of(nr).does) {
    case DOES_WRITES:
    case DOES_WRITES_AT:
    case DOES_WRITES_HOW:
    case DOES_COPIES:
    case DOES_COPIES_AT:
    case DOES_WRITES_MEMORY:
        return true;
    default:
        return false;
    }
}

static long run(struct thread *t, long nr, long *a)
{
    const struct call_info *info = call_info(nr);
    if (!info)
        return unknown(t, nr);
    if (info->how == CALL_REFUSED)
        return -ENOSYS;
    struct unknown_command u;
    if (!effects_known(nr, a, &u)) {
        long bad = bad_descriptor(nr, a);
        if (bad < 0)
            return bad;
        if (u.told)
            say_unknown_command(t, info->name, u.command);
        return u.error;
    }
    long r;
    if (procfs_maps && procfs_call(t, nr, a, &r))
        return r;
    r = handlers[nr] ? handlers[nr](t, a) : pass(t, nr, a);
    if (procfs_memory_open && may_write_memory(nr))
        cache_kill_all();
    if (r == -EFAULT && !handlers[nr] && maps_open_all())
        r = syscalls_pass(t, nr, a); /* the kernel could not write into protected code */
    return r;
}

long syscalls_again(struct thread *t, long nr, long a[6])
{
    return handlers[nr](t, a);
}

void syscalls_run(struct thread *t, gaddr next)
{
    uint64_t *g = t->cpu.gpr;
    if (session && session->replay_call) {
        session->replay_call(t, next);
        return;
    }
    if (t->pending) { /* it came before the call */
        signals_deliver_pending(t);
        return;
    }
    long nr = (int32_t)g[RAX];
    long a[6] = {(long)g[RDI], (long)g[RSI], (long)g[RDX], (long)g[R10], (long)g[R8], (long)g[R9]};
    if (instrument && instrument->syscall)
        instrument->syscall(t, false);
    t->has_wait_mask = false;
    long r;
    if (session)
        session->entering(t);
    if (seccomp_allows(t, &nr, a, next, &r)) {
        if (schedule->at_call)
            baton_at_call(t);
        if (session)
            session->making(t, nr);
        r = session && session->refuses(t, nr, a) ? -EINVAL : run(t, nr, a);
    }
    if (r == SYSCALL_ABORTED) {
        if (session)
            session->restarted(t);
        thread_tick(t);
        t->has_wait_mask = false;
        signals_deliver_pending(t);
        return;
    }
    if (session)
        session->called(t, nr, r);
    if (r != SYSCALL_NO_RESULT) {
        g[RAX] = (uint64_t)r;
        g[RCX] = next;
        g[R11] = t->cpu.rflags;
        t->cpu.rip = next;
    }
    if (instrument && instrument->syscall)
        instrument->syscall(t, true);
    if (session && session->returned && r != SYSCALL_NO_RESULT)
        session->returned(t, nr);
    if (t->pending)
        signals_deliver_pending(t);
    t->has_wait_mask = false;
}

void syscalls_finish(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    if (instrument && instrument->finish)
        instrument->finish();
    if (!engine.opt.stats)
        return;
    uint64_t ticks = engine.total_ticks;
    for (struct thread *o = engine.threads; o; o = o->next)
        ticks += thread_count(o);
    const struct cache_stats *s = &cache_stats;
    uint64_t cycles = __builtin_ia32_rdtsc() - engine.start_tsc + 1;
    uint64_t per_us = cycles / ((special_now_ns() - engine.start_ns) / 1000 + 1) + 1;
    rt_say(
        "stats: ticks=%lu threads=%u blocks=%lu insns=%lu code_bytes=%lu cache_bytes=%lu cold_bytes=%lu "
        "evicted=%lu killed=%lu translate_ns=%lu superblocks=%lu "
        "superblock_insns=%lu superblock_bytes=%lu superblock_ns=%lu "
        "looks=%lu loops=%lu given=%lu rests=%lu",
        ticks, engine.threads_made, s->blocks, s->insns, s->code_bytes, s->cache_bytes,
        s->cold_bytes, s->evicted, s->killed, s->translate_tsc * 1000 / per_us, s->superblocks,
        s->superblock_insns, s->superblock_bytes, s->superblock_tsc * 1000 / per_us,
        spin_stats.looks, spin_stats.found, spin_stats.given, spin_stats.rests);
}
