/* threads.c - threads and processes of the target: creation and end.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every thread of the target is a kernel thread with a struct thread in the runtime's range. The
 * kernel starts it on the runtime's stack; the target's stack pointer is only a register value.
 * What the kernel would write when a thread ends (robust futexes, CLONE_CHILD_CLEARTID) is written
 * here, while the thread still has the baton; the kernel itself only clears host_alive, which frees
 * the struct. As the kernel's, these wake-ups are of the shared kind, which reaches no waiter with
 * FUTEX_PRIVATE_FLAG, and so none of os/futex.c's queues.
 */
#include "engine/os/threads.h"

#include <linux/sched.h>

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/os/futex.h"
#include "engine/os/hostsig.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"

static struct thread *spare; /* ended threads whose kernel thread may still be ending */

/* ---- the struct ---- */

/* A slab of structs where there is room for one, else a single one. NULL: no memory. */
static struct thread *carve(void)
{
    enum { SLAB = 8 };
    const uint64_t each = PAGE_UP(sizeof(struct thread));
    uint8_t *slab = engine.threads_made ? range_alloc_near(0, SLAB * each, false) : NULL;
    if (!slab)
        return range_alloc_near(0, each, false);
    for (int i = 1; i < SLAB; i++) {
        struct thread *t = (struct thread *)(slab + (uint64_t)i * each);
        t->next = spare;
        spare = t;
    }
    return (struct thread *)slab;
}

static struct thread *take_spare(void)
{
    for (struct thread **at = &spare; *at; at = &(*at)->next) {
        struct thread *t = *at;
        if (__atomic_load_n(&t->host_alive, __ATOMIC_ACQUIRE))
            continue;
        *at = t->next;
        struct process *process = t->own_process;
        void *scratch = t->scratch, *borrowed = t->borrowed;
        uint32_t borrowed_size = t->borrowed_size;
        memset(t, 0, offsetof(struct thread, xsave));
        t->own_process = process;
        t->scratch = scratch;
        t->borrowed = borrowed;
        t->borrowed_size = borrowed_size;
        return t;
    }
    return carve();
}

struct thread *threads_new(void)
{
    struct thread *t = take_spare();
    if (!t)
        return NULL;
    t->self = t;
    t->number = ++engine.threads_made;
    t->host_sp = ((uint64_t)t->host_stack + sizeof t->host_stack) & ~15ull;
    t->h_exit = engine_exit;
    t->h_indirect = engine_indirect;
    t->altstack.flags = SS_DISABLE_;
    t->lookup = engine.lookup;
    t->next = engine.threads;
    engine.threads = t;
    engine.thread_count++;
    return t;
}

void threads_unlist(struct thread *t)
{
    struct thread **at = &engine.threads;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    engine.thread_count--;
    if (threads_is_side(t))
        engine.side_processes--;
    engine.total_ticks += thread_count(t);
    t->next = spare;
    spare = t;
}

static void set_gs(struct thread *t)
{
    if (engine.wrfsbase)
        __asm__ volatile("wrgsbase %0" : : "r"(t));
    else
        sys2(__NR_arch_prctl, 0x1001, (long)t);
}

void threads_enter_only(struct thread *t)
{
    set_gs(t);
    hostsig_setup_stack(t);
}

void threads_become(struct thread *t)
{
    set_gs(t);
    if (engine.wrfsbase)
        __asm__ volatile("wrfsbase %0" : : "r"(t->fs_base));
    else
        sys2(__NR_arch_prctl, 0x1002, (long)t->fs_base);
}

void threads_enter(struct thread *t)
{
    set_gs(t);
    t->host_alive = 1;
    t->tid = (int32_t)sys1(__NR_set_tid_address, (long)&t->host_alive);
    hostsig_setup_stack(t);
}

/* ---- creation ---- */

/* What clone and clone3 ask for, in one form. */
struct request {
    uint64_t flags;
    gaddr stack; /* top; 0: the caller's */
    gaddr child_tid, tls;
    long nr;
    long arg[6];              /* for the kernel */
    struct clone_args *args3; /* clone3: the copy that arg[0] points to */
    bool clears_handlers;     /* CLONE_CLEAR_SIGHAND, which the kernel must not do to ours */
};

static void child_registers(struct thread *t, struct cpu_state *c, gaddr stack)
{
    *c = t->cpu;
    c->gpr[RAX] = 0;
    c->rip = t->cpu.rip + 2; /* behind the syscall instruction */
    c->gpr[RCX] = c->rip;
    c->gpr[R11] = c->rflags;
    if (stack)
        c->gpr[RSP] = stack;
}

static void in_forked_child(struct thread *t)
{
    for (struct thread *o = engine.threads, *next; o; o = next) {
        next = o->next;
        if (o != t)
            o->host_alive = 0, threads_unlist(o);
    }
    baton_reset(t);
    futex_reset();
    schedule_forked();
    t->process->pid = (int32_t)sys0(__NR_getpid);
    t->host_alive = 1;
    t->tid = (int32_t)sys1(__NR_set_tid_address, (long)&t->host_alive);
    t->robust_list = 0;
    t->clear_tid = 0;
    t->pending = 0;
    t->held.set = t->process->held.set = 0;
    if (session)
        session->forked(t);
}

static long fork_like(struct thread *t, struct request *r)
{
    uint64_t kernel_mask = signals_block_all();
    long pid = engine_clone(r->nr, r->arg, NULL);
    if (pid == 0) {
        in_forked_child(t);
        if (r->clears_handlers) {
            signals_forget_handlers(t->process);
            signals_tell_kernel(t);
        }
        if (r->flags & CLONE_CHILD_CLEARTID)
            t->clear_tid = r->child_tid;
        if (r->stack)
            t->cpu.gpr[RSP] = r->stack;
        signals_apply_mask(t); /* a debugger of the parent may have held signals back */
    } else {
        signals_set_kernel_mask(kernel_mask);
    }
    return pid;
}

/* Kernel arguments for a child that shares memory: its own host stack, and host_alive as the word
 * that the kernel clears in the end. */
static void arguments_for(struct request *r, struct thread *child)
{
    uint64_t flags = (r->flags & ~(uint64_t)CLONE_CHILD_SETTID) | CLONE_CHILD_CLEARTID;
    if (r->args3) {
        r->args3->flags = flags;
        r->args3->child_tid = (uint64_t)&child->host_alive;
        r->args3->stack = (uint64_t)child->host_stack;
        r->args3->stack_size = child->host_sp - (uint64_t)child->host_stack;
    } else {
        r->arg[0] = (long)flags;
        r->arg[1] = (long)child->host_sp;
        r->arg[3] = (long)&child->host_alive;
    }
}

static struct thread *new_child(struct thread *t, const struct request *r)
{
    struct thread *c = threads_new();
    if (!c)
        return NULL;
    child_registers(t, &c->cpu, r->stack);
    c->process = t->process;
    c->mask = t->mask;
    c->gs_base = t->gs_base;
    c->fs_base = r->flags & CLONE_SETTLS ? r->tls : engine_segments(t).fs;
    c->seccomp = t->seccomp;
    c->no_tsc = t->no_tsc;
    c->reads_execute = t->reads_execute;
    c->clears_handlers = r->clears_handlers;
    c->host_alive = 1;
    c->clear_tid = r->flags & CLONE_CHILD_CLEARTID ? r->child_tid : 0;
    c->start_tid = r->flags & CLONE_CHILD_SETTID ? r->child_tid : 0;
    if (session && session->thread)
        session->thread(t, c);
    return c;
}

static long start(struct thread *c, struct request *r)
{
    uint64_t kernel_mask = signals_block_all();
    long tid = engine_clone(r->nr, r->arg, c);
    if (tid < 0) {
        c->host_alive = 0;
        threads_unlist(c);
    }
    signals_set_kernel_mask(kernel_mask);
    return tid;
}

static long thread_like(struct thread *t, struct request *r)
{
    struct thread *c = new_child(t, r);
    if (!c)
        return -EAGAIN;
    arguments_for(r, c);
    if (!schedule->controlled)
        return start(c, r);
    baton_expect(c);
    long tid = start(c, r);
    if (tid < 0)
        baton_forget(c);
    return tid;
}

/* A process that shares memory runs as one more thread under the same baton, but with signal
 * actions of its own. */
static struct thread *new_process(struct thread *t, struct request *r)
{
    struct thread *c = new_child(t, r);
    if (!c)
        return NULL;
    if (!c->own_process)
        c->own_process = range_heap(sizeof *c->own_process);
    *c->own_process = *t->process;
    c->own_process->held.set = 0;
    if (r->clears_handlers)
        signals_forget_handlers(c->own_process);
    c->process = c->own_process;
    engine.side_processes++;
    c->altstack = t->altstack;
    arguments_for(r, c);
    return c;
}

/* LeakSanitizer's tracer is made like this: memory shared, nobody waiting. */
static long side_process(struct thread *t, struct request *r)
{
    struct thread *c = new_process(t, r);
    if (!c)
        return -EAGAIN;
    c->detached = true;
    return start(c, r);
}

static long vfork_like(struct thread *t, struct request *r)
{
    struct thread *c = new_process(t, r);
    if (!c)
        return -EAGAIN;
    uint64_t kernel_mask = signals_block_all();
    baton_drop(t);
    long pid = engine_clone(r->nr, r->arg, c);
    baton_steal(c, t);
    futex_forget(c);
    c->host_alive = 0;
    threads_unlist(c);
    signals_set_kernel_mask(kernel_mask);
    return pid;
}

/* What a thread does before its first instruction, with the baton. */
void threads_begin(struct thread *t)
{
    if (session)
        session->begin(t);
    t->begun = true;
    if (t->start_tid)
        engine_write(t->start_tid, &t->tid, 4);
    if (t->clears_handlers)
        signals_tell_kernel(t);
    signals_apply_mask(t);
    if (instrument && instrument->thread_start)
        instrument->thread_start(t);
}

_Noreturn void threads_child_start(struct thread *t)
{
    threads_enter(t);
    if (threads_is_side(t))
        t->process->pid = (int32_t)sys0(__NR_getpid);
    baton_acquire(t);
    threads_begin(t);
    engine_run(t);
}

/* Replay: the struct without the kernel thread. */
static long only_struct(struct thread *t, struct request *r)
{
    bool process = !(r->flags & CLONE_THREAD);
    struct thread *c = process ? new_process(t, r) : new_child(t, r);
    rt_check(c);
    c->detached = process && !(r->flags & CLONE_VFORK);
    c->host_alive = 0;
    return 0;
}

static long create(struct thread *t, struct request *r)
{
    if (session && session->replaying)
        return only_struct(t, r);
    if (!(r->flags & CLONE_VM))
        return fork_like(t, r);
    if (r->flags & CLONE_THREAD)
        return thread_like(t, r);
    if (r->flags & CLONE_VFORK)
        return vfork_like(t, r);
    if (r->flags & CLONE_SIGHAND) {
        rt_say("clone: CLONE_SIGHAND without CLONE_THREAD is not supported (flags 0x%lx)",
               r->flags);
        return -ENOSYS;
    }
    return side_process(t, r);
}

long threads_clone(struct thread *t, long *a)
{
    struct request r = {.flags = (uint64_t)a[0],
                        .stack = (gaddr)a[1],
                        .child_tid = (gaddr)a[3],
                        .tls = (gaddr)a[4],
                        .nr = __NR_clone,
                        .arg = {a[0], 0, a[2], a[3], a[4]}};
    return create(t, &r);
}

long threads_clone3(struct thread *t, long *a)
{
    struct clone_args args = {0};
    uint64_t size = (uint64_t)a[1];
    if (size < 64)
        return -EINVAL;
    if (size > sizeof args)
        return size > PAGE_BYTES ? -E2BIG : -ENOSYS;
    if (!engine_read(&args, (gaddr)a[0], size))
        return -EFAULT;
    struct request r = {.flags = args.flags | args.exit_signal,
                        .stack = args.stack ? args.stack + args.stack_size : 0,
                        .child_tid = args.child_tid,
                        .tls = args.tls,
                        .nr = __NR_clone3,
                        .arg = {(long)&args, (long)size},
                        .args3 = &args};
    r.flags = args.flags;
    if (args.flags & CLONE_CLEAR_SIGHAND) {
        if (args.flags & CLONE_SIGHAND)
            return -EINVAL;
        r.clears_handlers = true;
        args.flags = r.flags = args.flags & ~CLONE_CLEAR_SIGHAND;
    }
    if (!(args.flags & CLONE_VM))
        args.stack = args.stack_size = 0;
    return create(t, &r);
}

long threads_fork(struct thread *t, long *a)
{
    (void)a;
    struct request r = {.nr = __NR_fork};
    return create(t, &r);
}

long threads_vfork(struct thread *t, long *a)
{
    (void)a;
    struct request r = {.flags = CLONE_VM | CLONE_VFORK | SIG_CHLD,
                        .nr = __NR_clone,
                        .arg = {CLONE_VM | CLONE_VFORK | SIG_CHLD}};
    return create(t, &r);
}

/* ---- the end ---- */

enum { FUTEX_TID = 0x3fffffff, FUTEX_DIED = 0x40000000, ROBUST_LIMIT = 2048 };
#define FUTEX_HAS_WAITERS 0x80000000u

static void wake(gaddr word)
{
    if (!session || !session->replaying)
        sys3(__NR_futex, (long)word, FUTEX_WAKE, 1);
}

/* Waiters for locks with priority inheritance get up by themselves: futex_pi_owner_ends() or, of
 * shared ones, the kernel sees to it. */
static void owner_died(struct thread *t, gaddr entry, int64_t offset)
{
    bool pi = entry & 1;
    gaddr word = (entry & ~1ull) + (uint64_t)offset;
    uint32_t v;
    if (!engine_read(&v, word, 4) || (v & FUTEX_TID) != (uint32_t)t->tid)
        return;
    uint32_t new = (v & FUTEX_HAS_WAITERS) | FUTEX_DIED;
    if (engine_write(word, &new, 4) && (v & FUTEX_HAS_WAITERS) && !pi)
        wake(word);
}

static void walk_robust_list(struct thread *t)
{
    struct {
        gaddr next;
        int64_t offset;
        gaddr pending;
    } head;
    if (!t->robust_list || !engine_read(&head, t->robust_list, sizeof head))
        return;
    gaddr entry = head.next;
    for (int i = 0; i < ROBUST_LIMIT && (entry & ~1ull) != t->robust_list; i++) {
        gaddr next;
        bool ok = engine_read(&next, entry & ~1ull, 8);
        if (entry != head.pending)
            owner_died(t, entry, head.offset);
        if (!ok)
            break;
        entry = next;
    }
    if (head.pending)
        owner_died(t, head.pending, head.offset);
    if (!session || !session->replaying)
        sys2(__NR_set_robust_list, 0, 24);
}

static void clear_tid(struct thread *t)
{
    if (!t->clear_tid || !engine_write(t->clear_tid, &(uint32_t){0}, 4))
        return;
    futex_joined(t->clear_tid);
    wake(t->clear_tid);
}

/* What the kernel would do for an ending thread, and others can see. */
void threads_finish(struct thread *t)
{
    if (instrument && instrument->thread_exit)
        instrument->thread_exit(t);
    walk_robust_list(t);
    futex_pi_owner_ends(t);
    clear_tid(t);
}

void threads_leave(struct thread *t)
{
    signals_block_all();
    if (session)
        session->killed(t);
    futex_pi_owner_ends(t);
    if (t->detached)
        threads_unlist(t);
    baton_drop(t);
}

void threads_killed(struct thread *t)
{
    if (session)
        session->killed(t);
    futex_pi_owner_ends(t);
    if (!t->detached)
        return; /* its parent waits for it, and sees to the rest */
    futex_forget(t);
    threads_unlist(t);
}

/* Those that were killed inside a system call. */
static void reap(void)
{
    for (struct thread *o = engine.threads, *next; o; o = next) {
        next = o->next;
        if (o->detached && !__atomic_load_n(&o->host_alive, __ATOMIC_ACQUIRE) && !o->baton_queued) {
            futex_forget(o);
            threads_unlist(o);
        }
    }
}

long threads_exit(struct thread *t, long *a)
{
    reap();
    bool alone = engine.thread_count == 1;
    threads_finish(t);
    if (alone) {
        if (session)
            session->end(t, SESSION_EXIT, (int)a[0]);
        syscalls_finish();
    }
    signals_block_all();
    if (!alone) {
        if (!threads_is_side(t) || t->detached)
            threads_unlist(t);
        baton_drop(t);
    }
    if (alone && engine.guested) /* the guest does not keep the process */
        sys1(__NR_exit_group, a[0]);
    for (;;)
        sys1(__NR_exit, a[0]);
}

long threads_exit_group(struct thread *t, long *a)
{
    bool vfork_child = threads_is_side(t);
    if (!vfork_child) {
        if (session)
            session->end(t, SESSION_EXIT, (int)a[0]);
        syscalls_finish();
    }
    signals_block_all();
    if (vfork_child) {
        futex_pi_owner_ends(t);
        if (t->detached)
            threads_unlist(t);
        baton_drop(t);
    }
    for (;;)
        sys1(__NR_exit_group, a[0]);
}

long threads_set_tid_address(struct thread *t, long *a)
{
    t->clear_tid = (gaddr)a[0];
    return t->tid;
}

long threads_set_robust_list(struct thread *t, long *a)
{
    if (a[1] != 24)
        return -EINVAL;
    t->robust_list = (gaddr)a[0];
    if (session && session->replaying)
        return 0;
    return sys2(__NR_set_robust_list, a[0], a[1]); /* for when the whole process is killed */
}

long threads_get_robust_list(struct thread *t, long *a)
{
    struct thread *o = engine.threads;
    for (; o && a[0] && o->tid != a[0]; o = o->next)
        ;
    if (!a[0])
        o = t;
    if (!o)
        return -ESRCH;
    return engine_write((gaddr)a[1], &o->robust_list, 8) &&
                   engine_write((gaddr)a[2], &(uint64_t){24}, 8)
               ? 0
               : -EFAULT;
}
