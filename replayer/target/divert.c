/* divert.c - a copy of the replay that has left the log, to call functions in.
 *
 * SPDX-License-Identifier: MIT
 *
 * A debugger calls functions of the program in such a copy. One thread runs, without the log: there
 * is nothing to compare with, and nobody to answer system calls but this file. Memory, output and
 * clocks work; what would reach outside fails with EPERM. A lock that is held, by another thread or
 * by what this one was at (fork() holds some), is never released: to wait for it is a stop.
 *
 * Signals that the function sends to itself, and faults, go to their handlers. A stop does not
 * return here (post.c): the thread is started anew. So what is to be delivered after one is noted,
 * and a fault happens again. Without a handler the thread stays at the stop.
 */
#include "replayer/target/divert.h"

#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/confine.h"
#include "replayer/target/output.h"
#include "replayer/target/space.h"

static const struct session diverted;

static uint64_t sent;                /* signals, by the function to itself; blocked until now */
static struct siginfo_raw waiting;   /* is due when the thread runs on; sig 0: none */
static gaddr waiting_pc, waiting_sp; /* from here; elsewhere another function is called meanwhile */

bool divert_is_on(void)
{
    return session == &diverted;
}

void divert(void)
{
    session = &diverted;
    for (struct thread *t = engine.threads; t; t = t->next)
        t->calling = false;
}

static void stop_for(struct thread *t, int sig, const void *info)
{
    for (;;)
        stops_signal_always(t, sig, info);
}

/* ---- signals ---- */

static bool has_handler(const struct thread *t, int sig)
{
    return t->process->action[sig].handler > HANDLER_IGNORE && !(t->mask & SIG_BIT(sig));
}

void divert_go_on(struct thread *t)
{
    struct siginfo_raw info = waiting;
    if (!info.sig || t->cpu.rip != waiting_pc || t->cpu.gpr[RSP] != waiting_sp)
        return;
    if (!has_handler(t, info.sig))
        stop_for(t, info.sig, &info);
    waiting.sig = 0;
    signals_deliver(t, &info);
}

/* What has been sent and is not blocked, after a system call. */
static void deliver_sent(struct thread *t)
{
    enum { SI_TKILL = -6 };
    while (sent & ~t->mask) {
        const int sig = __builtin_ctzll(sent & ~t->mask) + 1;
        sent &= ~SIG_BIT(sig);
        if (!has_handler(t, sig) && !signals_fatal(t, sig) && !(SIG_SYNC & SIG_BIT(sig)))
            continue;
        waiting = (struct siginfo_raw){
            .sig = sig, .code = SI_TKILL, .field = {(uint32_t)t->process->pid}};
        waiting_pc = t->cpu.rip;
        waiting_sp = t->cpu.gpr[RSP];
        if (has_handler(t, sig))
            stops_signal(t, sig, &waiting);
        divert_go_on(t);
        return;
    }
}

/* kill, tkill, tgkill: of the thread to itself. */
static int64_t send(long sig, bool to_itself)
{
    if (!to_itself)
        return -EPERM;
    if (sig < 0 || sig > SIG_MAX)
        return -EINVAL;
    if (sig)
        sent |= SIG_BIT(sig);
    return 0;
}

/* ---- system calls ---- */

static int64_t map(struct thread *t, long nr, const long a[6])
{
    enum { SHARED = 1, FIXED = 0x10, ANONYMOUS = 0x20 };
    gaddr at = (gaddr)a[0];
    if (!(a[3] & ANONYMOUS) || (a[3] & SHARED))
        return -EPERM;
    if (!(a[3] & FIXED)) {
        long r = sys6(__NR_mmap, 0, a[1], 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (SYS_FAILED(r))
            return r;
        at = (gaddr)r;
    }
    space_call(t, nr, a, (int64_t)at, NULL);
    return (int64_t)at;
}

static int64_t heap(struct thread *t, long nr, const long a[6])
{
    gaddr low, high;
    space_heap(&low, &high);
    if ((gaddr)a[0] < low || (gaddr)a[0] > high + (1ull << 30))
        return (int64_t)high;
    space_call(t, nr, a, a[0], NULL);
    return a[0];
}

/* No other thread runs: a word that is waited for never changes. */
static int64_t wait_for_word(struct thread *t, const long a[6])
{
    enum { OPERATION = 0x7f, WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, LOCK_PI2 = 13 };
    const long op = a[1] & OPERATION;
    uint32_t word;
    if (op != WAIT && op != WAIT_BITSET && op != LOCK_PI && op != LOCK_PI2)
        return 0;
    if (!engine_read(&word, (gaddr)a[0], sizeof word))
        return -EFAULT;
    if ((op == WAIT || op == WAIT_BITSET) && word != (uint32_t)a[2])
        return -EAGAIN;
    if (a[3])
        return -ETIMEDOUT;
    rt_say("the function called waits for a lock that nobody releases: no other thread runs");
    stop_for(t, 19, NULL); /* SIGSTOP */
    return 0;
}

/* What can be answered of calls that do nothing to the program itself. */
static int64_t answer_plainly(struct thread *t, long nr, long a[6])
{
    const struct call_info *info = call_info(nr);
    switch (nr) {
    case __NR_clock_gettime: /* other clocks are those of processes and descriptors */
        return (uint32_t)a[0] > CONFINE_CLOCKS ? -EINVAL : sys2(__NR_clock_gettime, a[0], a[1]);
    case __NR_getpid:
        return t->process->pid;
    case __NR_gettid:
        return t->tid;
    case __NR_sched_yield:
        return 0;
    case __NR_kill:
        return send(a[1], a[0] == t->process->pid);
    case __NR_tkill:
        return send(a[1], a[0] == t->tid);
    case __NR_tgkill:
        return send(a[2], a[0] == t->process->pid && a[1] == t->tid);
    default:
        return info && info->replay == REPLAY_SAME ? syscalls_again(t, nr, a) : -EPERM;
    }
}

static int64_t answer(struct thread *t, long nr, long a[6])
{
    switch (kinds_of(nr).does) {
    case DOES_WRITES: {
        int64_t bytes = output_given(nr, a);
        output_after(t, nr, a, bytes);
        return bytes;
    }
    case DOES_MAPS:
        return map(t, nr, a);
    case DOES_BREAKS:
        return heap(t, nr, a);
    case DOES_UNMAPS:
    case DOES_PROTECTS:
    case DOES_ADVISES:
        space_call(t, nr, a, 0, NULL);
        return 0;
    case DOES_FUTEX:
        return wait_for_word(t, a);
    case DOES_ENDS_THREAD:
    case DOES_ENDS_PROCESS:
        rt_say("the function called ends the program: it stays at the call of exit");
        stop_for(t, 19, NULL); /* SIGSTOP */
        return 0;
    default:
        return answer_plainly(t, nr, a);
    }
}

static bool call(struct thread *t, gaddr next)
{
    uint64_t *g = t->cpu.gpr;
    long a[6] = {(long)g[RDI], (long)g[RSI], (long)g[RDX], (long)g[R10], (long)g[R8], (long)g[R9]};
    int64_t result = answer(t, (int32_t)g[RAX], a);
    if (result == SYSCALL_NO_RESULT) {
        deliver_sent(t);
        return true;
    }
    g[RAX] = (uint64_t)result;
    g[RCX] = next;
    g[R11] = t->cpu.rflags;
    t->cpu.rip = next;
    deliver_sent(t);
    return true;
}

/* ---- the rest ---- */

static void fault(struct thread *t)
{
    const int sig = t->fault.info.sig;
    stops_at_fault(t);
    if (!has_handler(t, sig))
        stop_for(t, sig, &t->fault.info);
    stops_signal(t, sig, &t->fault.info); /* the second time, this one is known */
}

static void end(struct thread *t, enum session_end how, int status)
{
    stop_for(t, how == SESSION_SIGNAL ? status : 19, NULL);
}

static void nothing(struct thread *t)
{
    (void)t;
}

static bool never_due(struct thread *t)
{
    (void)t;
    return false;
}

static uint64_t budget(struct thread *t)
{
    (void)t;
    return stops_budget();
}

static const struct session diverted = {
    .running = nothing,
    .forked = nothing,
    .end = end,
    .tick = nothing,
    .due = never_due,
    .budget = budget,
    .pause = stops_pause,
    .yield = nothing,
    .replay_call = call,
    .fault = fault,
    .replaying = true,
};
