/* exec.c - execve of the target.
 *
 * SPDX-License-Identifier: MIT
 *
 * A helper process that shares this memory (CLONE_VM) seizes the calling thread; the thread execs;
 * the helper, which keeps the old memory and in it the image, injects the runtime into the new one
 * and ends. It is a child without exit signal, which the new runtime reaps before the program
 * begins.
 */
#include "engine/start/exec.h"

#include <linux/sched.h>

#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/seccomp.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/start/boot.h"

enum { STACK = 32 << 10, X_OK_ = 1 };

static const struct image *image;
static char options[BOOT_OPTIONS];

/* A helper's stack and job. Not freed by a failed exec or a vfork child, but used again. */
struct helper {
    struct inject_job job;
    struct helper *next;
    uint8_t stack[STACK] __attribute__((aligned(64)));
};
static struct helper *helpers;

void exec_init(gaddr image_at, const char *opts)
{
    image = (const struct image *)image_at;
    /* A recording's own come first; they are made anew for each program. */
    if (rt_prefix(opts, "record="))
        while (*opts && *opts++ != ',')
            ;
    if (rt_prefix(opts, "threads="))
        while (*opts && *opts++ != ',')
            ;
    rt_format(options, sizeof options, "%s", opts);
}

/* The last act touches no stack: once `done` is set it may belong to someone else. */
static void trace(void *arg)
{
    struct helper *h = arg;
    inject_tracer(&h->job);
    __asm__ volatile("movl $1, (%0)\n\t"
                     "xor %%edi, %%edi\n\t"
                     "mov $60, %%eax\n\t"
                     "syscall"
                     :
                     : "r"(&h->job.done)
                     : "memory", "rdi", "rax");
}

static struct helper *helper_new(void)
{
    struct helper *h = helpers;
    while (h && !__atomic_load_n(&h->job.done, __ATOMIC_ACQUIRE))
        h = h->next;
    if (!h) {
        h = range_alloc_near(0, PAGE_UP(sizeof *h), false);
        if (!h)
            return NULL;
        h->next = helpers;
        helpers = h;
    }
    memset(&h->job, 0, sizeof h->job);
    return h;
}

/* Returns the helper that has seized us, or NULL with *error. */
static struct helper *helper_start(struct thread *t, int session_fd, long *error)
{
    struct helper *h = helper_new();
    if (!h) {
        *error = -ENOMEM;
        return NULL;
    }
    h->job.image = image;
    h->job.mask = t->mask;
    h->job.tracee = t->tid;
    h->job.filter_bytes = seccomp_packed_bytes(t);
    if (h->job.filter_bytes) {
        void *packed = range_heap(h->job.filter_bytes);
        seccomp_pack(t, packed, h->job.filter_bytes);
        h->job.filters = packed;
    }
    if (session_fd < 0)
        memcpy(h->job.options, options, sizeof options);
    else
        rt_format(h->job.options, sizeof h->job.options, "record=%d,threads=%u%s%s", session_fd,
                  engine.threads_made, options[0] ? "," : "", options);
    long pid = engine_clone_vm(CLONE_VM, h->stack + sizeof h->stack, trace, h);
    *error = pid;
    h->job.tracer = (int32_t)pid;
    if (pid > 0)
        *error = inject_ready(&h->job);
    else
        h->job.done = 1;
    if (!*error)
        return h;
    if (pid > 0)
        inject_reap((int32_t)pid);
    return NULL;
}

static void helper_stop(struct helper *h)
{
    sys2(__NR_kill, h->job.tracer, SIG_KILL);
    inject_reap(h->job.tracer);
    h->job.done = 1;
}

static long run(struct thread *t, long nr, long *a)
{
    long error;
    enum { GET_DUMPABLE = 3, SET_DUMPABLE = 4 };
    uint64_t kernel_mask = signals_block_all();
    /* After a change of user ids nobody may trace us, unless we say so; the exec resets it. */
    long dumpable = sys6(__NR_prctl, GET_DUMPABLE, 0, 0, 0, 0, 0);
    if (dumpable != 1)
        sys2(__NR_prctl, SET_DUMPABLE, 1);
    bool whole = !threads_is_side(t); /* not a vfork child's */
    int session_fd = session && whole ? session->exec(t) : -1;
    struct helper *h = helper_start(t, session_fd, &error);
    if (!h) {
        rt_say("exec: the new program cannot be followed (error %ld); it runs without the engine",
               -error);
        sys4(__NR_rt_sigprocmask, 2, (long)&t->mask, 0, 8);
    }
    if (whole) {
        if (session)
            session->end(t, SESSION_EXEC, 0);
        syscalls_finish();
    }
    signals_prepare_exec(t);
    /* A recording says that this is the end: nobody may add to it. */
    bool given = !(session && whole) && baton_release(t);
    long r = sys6(nr, a[0], a[1], a[2], a[3], a[4], 0);
    if (given)
        baton_acquire(t);
    if (session_fd >= 0)
        sys1(__NR_close, session_fd);
    if (h)
        helper_stop(h);
    if (dumpable != 1)
        sys2(__NR_prctl, SET_DUMPABLE, dumpable);
    signals_abandon_exec(t);
    signals_set_kernel_mask(kernel_mask);
    return r;
}

long exec_execve(struct thread *t, long *a)
{
    /* A file that is not there is the most common outcome of a search along PATH. */
    long r = sys4(__NR_faccessat, -100, a[0], X_OK_, 0);
    return r < 0 ? r : run(t, __NR_execve, a);
}

long exec_execveat(struct thread *t, long *a)
{
    return run(t, __NR_execveat, a);
}
