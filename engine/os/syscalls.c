/* syscalls.c - the target's system calls. SPDX-License-Identifier: MIT */
#include "engine/os/syscalls.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/os/baton.h"
#include "engine/os/exec.h"
#include "engine/os/maps.h"
#include "engine/os/memory.h"
#include "engine/os/procfs.h"
#include "engine/os/ptrace.h"
#include "engine/os/seccomp.h"
#include "engine/os/signals.h"
#include "engine/os/special.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum how { UNKNOWN, QUICK, BLOCKS, REFUSED };

enum { CALLS = 600 };

static const struct call {
    const char *name;
    uint8_t how;
    long (*handler)(struct thread *t, long *a);
} calls[CALLS] = {
#define SYSCALL(nr, name_, how_, handler_) [nr] = {#name_, how_, handler_},
#include "engine/os/syscalls.def"
#undef SYSCALL
};

long syscalls_pass(struct thread *t, long nr, const long a[6])
{
    bool given = calls[nr].how == BLOCKS && !t->attached && baton_release(t);
    long r = engine_syscall(nr, a);
    if (given)
        baton_acquire(t);
    return r;
}

static long unknown(const struct thread *t, long nr)
{
    static uint64_t told[CALLS / 64 + 1];
    /* Numbers that no kernel has are for the target's own error handling. */
    if (nr >= 0 && nr < CALLS && !(told[nr / 64] >> (nr % 64) & 1)) {
        told[nr / 64] |= 1ull << (nr % 64);
        rt_say("system call %ld: not supported (pc 0x%lx)", nr, t->cpu.rip);
    }
    return -ENOSYS;
}

static bool may_write_memory(long nr)
{
    switch (nr) {
    case __NR_write:
    case __NR_pwrite64:
    case __NR_writev:
    case __NR_pwritev:
    case __NR_pwritev2:
    case __NR_sendfile:
    case __NR_splice:
    case __NR_copy_file_range:
    case __NR_process_vm_writev:
        return true;
    default:
        return false;
    }
}

static long run(struct thread *t, long nr, long *a)
{
    if (nr < 0 || nr >= CALLS || calls[nr].how == UNKNOWN)
        return unknown(t, nr);
    if (calls[nr].how == REFUSED)
        return -ENOSYS;
    long r;
    if (procfs_maps && procfs_call(t, nr, a, &r))
        return r;
    r = calls[nr].handler ? calls[nr].handler(t, a) : syscalls_pass(t, nr, a);
    if (procfs_memory_open && may_write_memory(nr))
        cache_kill_all();
    if (r == -EFAULT && !calls[nr].handler && maps_open_all())
        r = syscalls_pass(t, nr, a); /* the kernel could not write into protected code */
    return r;
}

void syscalls_run(struct thread *t, gaddr next)
{
    uint64_t *g = t->cpu.gpr;
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
    if (seccomp_allows(t, nr, a, next, &r))
        r = run(t, nr, a);
    if (r == SYSCALL_ABORTED) {
        thread_tick(t);
        t->has_wait_mask = false;
        signals_deliver_pending(t);
        return;
    }
    if (r != SYSCALL_NO_RESULT) {
        g[RAX] = (uint64_t)r;
        g[RCX] = next;
        g[R11] = t->cpu.rflags;
        t->cpu.rip = next;
    }
    if (instrument && instrument->syscall)
        instrument->syscall(t, true);
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
    uint64_t translate_us =
        s->translate_tsc / (cycles / ((special_now_ns() - engine.start_ns) / 1000 + 1) + 1);
    rt_say("stats: ticks=%lu threads=%u blocks=%lu insns=%lu code_bytes=%lu cache_bytes=%lu "
           "evicted=%lu killed=%lu translate_ns=%lu",
           ticks, engine.threads_made, s->blocks, s->insns, s->code_bytes, s->cache_bytes,
           s->evicted, s->killed, translate_us * 1000);
}
