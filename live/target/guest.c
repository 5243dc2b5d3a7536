/* guest.c - a kernel thread of the runtime's own, which stops the program for a debugger.
 * SPDX-License-Identifier: MIT */
#include "live/target/guest.h"

#include <linux/sched.h>

#include "debug/mailbox.h"
#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/os/kernel.h"
#include "engine/os/signals.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "live/target/live.h"

enum { GUEST_STACK_BYTES = 64 << 10 };

/* A signal that comes right before the call makes it not happen: engine_syscall(). */
static void wait_request(struct thread *guest)
{
    const struct mailbox *box = post_box();
    const long a[6] = {(long)&box->pause, FUTEX_WAIT, 0, 0};
    const uint64_t mask = ~(SIG_SYNC | engine.guest_signals);
    sys4(__NR_rt_sigprocmask, 2, (long)&mask, 0, 8);
    while (!__atomic_load_n(&guest->pending, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&box->pause, __ATOMIC_ACQUIRE))
        engine_syscall(__NR_futex, a);
}

/* It stands for the thread that ran last. */
static void stop(struct thread *guest, enum stop_kind why, const struct siginfo_raw *info)
{
    struct mailbox_stop s = {.what = {.reason = why, .ticks = stops_ticks()}};
    const struct thread *t = live_last();
    const struct thread *shown = t ? t : engine.threads;
    s.what.at = (struct mailbox_moment){.events = post_events(),
                                        .count = thread_count(shown),
                                        .pc = shown->cpu.rip,
                                        .thread = shown->number,
                                        .stage = shown->calling ? STAGE_ENTERED : STAGE_BEFORE};
    if (why == STOP_SIGNAL) {
        s.what.number = info->sig;
        memcpy(s.what.siginfo, info, sizeof s.what.siginfo);
    }
    post_stop(guest, &s);
}

static void serve(struct thread *guest)
{
    struct siginfo_raw info = guest->pending_info;
    const bool key = guest->pending;
    guest->pending = 0;
    if (!key && !post_box()->pause)
        return; /* it has stopped by itself meanwhile */
    post_box()->pause = 0;
    if (key && !stops_wants_signal(info.sig)) {
        live_send(&info);
        return;
    }
    stop(guest, key ? STOP_SIGNAL : STOP_PAUSED, &info);
    if (live_signal(&info.sig))
        live_send(&info);
}

static void run(void *arg)
{
    struct thread *guest = arg;
    threads_enter_only(guest);
    guest->tid = (int32_t)sys0(__NR_gettid);
    for (;;) {
        wait_request(guest);
        baton_guest_enter(guest);
        serve(guest);
        baton_guest_leave(guest);
    }
}

void guest_start(struct thread *t)
{
    struct thread *guest = range_alloc(PAGE_UP(sizeof *guest));
    uint8_t *stack = range_alloc(GUEST_STACK_BYTES);
    const uint64_t old = signals_block_all();
    guest->self = guest;
    guest->process = t->process;
    guest->host_sp = ((uint64_t)guest->host_stack + sizeof guest->host_stack) & ~15ull;
    long tid = engine_clone_vm(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                   CLONE_SYSVSEM,
                               stack + GUEST_STACK_BYTES, run, guest);
    if (tid < 0)
        rt_die("live: the thread that stops the program cannot be made (error %ld)", -tid);
    signals_set_kernel_mask(old);
}
