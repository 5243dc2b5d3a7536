/* sentry.c - ends a part of the run while all threads sleep. SPDX-License-Identifier: MIT
 *
 * 1. It never waits for the baton. If somebody has it, that one sees the trigger at its next system
 *    call or tick; until then the sentry looks again.
 * 2. After an execve it is a process with the memory of a program that is gone. The ring, which
 * both see, says so: `generation`.
 */
#include "logger/target/sentry.h"

#include "engine/core/engine.h"
#include "engine/os/kernel.h"
#include "engine/os/signals.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "logger/target/log.h"

enum {
    SHARES_VM = 0x100,
    SHARES_FS = 0x200,
    SHARES_FILES = 0x400,
    PARENT = 0x8000,
    UNTRACED = 0x800000,
    CHILD = 17
};
enum { SET_PDEATHSIG = 1, SET_GS = 0x1001, KILL = 9, BUS = 7, SEGV = 11, LOOK_NS = 2000000 };

static struct {
    bool (*wanted)(void);
    void (*act)(void *arg);
    uint32_t generation;
    int32_t parent;
} sentry;

static bool is_current(void)
{
    return __atomic_load_n(&log_ring()->generation, __ATOMIC_ACQUIRE) == sentry.generation &&
           sys0(__NR_getppid) == sentry.parent;
}

static void look(void)
{
    const int64_t pause[2] = {0, LOOK_NS};
    while (is_current() && sentry.wanted() && !baton_if_idle(sentry.act, NULL))
        sys2(__NR_nanosleep, (long)pause, 0);
}

/* Copying memory that may not be there raises SIGSEGV and SIGBUS, which are the runtime's. */
static void watch(void *arg)
{
    const uint64_t mask = ~(SIG_BIT(BUS) | SIG_BIT(SEGV));
    const uint32_t *poke = &log_ring()->poke;
    sys2(__NR_arch_prctl, SET_GS, (long)arg);
    sys2(__NR_prctl, SET_PDEATHSIG, KILL);
    sys2(__NR_setpgid, 0, 0);
    sys4(__NR_rt_sigprocmask, 2, (long)&mask, 0, 8);
    while (is_current()) {
        const uint32_t seen = __atomic_load_n(poke, __ATOMIC_ACQUIRE);
        look();
        sys4(__NR_futex, (long)poke, FUTEX_WAIT, seen, 0);
    }
    sys1(__NR_exit_group, 0);
}

void sentry_start(bool (*wanted)(void), void (*act)(void *arg))
{
    struct thread *self = range_alloc(sizeof *self);
    self->self = self; /* it is no thread of the program, and in no list */
    sentry.wanted = wanted;
    sentry.act = act;
    sentry.generation = log_ring()->generation;
    sentry.parent = (int32_t)sys0(__NR_getppid);
    const uint64_t mask = signals_block_all();
    const long pid =
        engine_clone_vm(SHARES_VM | SHARES_FS | SHARES_FILES | PARENT | UNTRACED | CHILD,
                        self->host_stack + sizeof self->host_stack, watch, self);
    signals_set_kernel_mask(mask);
    log_ring()->sentry = pid > 0 ? (int32_t)pid : 0;
    engine.visited = pid > 0;
}

void sentry_replace(void)
{
    struct ring *g = log_ring();
    __atomic_add_fetch(&g->generation, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&g->poke, 1, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)&g->poke, FUTEX_WAKE, 1 << 30);
}
