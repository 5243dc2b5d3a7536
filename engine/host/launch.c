/* launch.c - start a program under the engine.
 *
 * SPDX-License-Identifier: MIT
 *
 * This process will be the program. A child that shares its memory, and keeps it over the exec,
 * traces it and injects the runtime (start/inject.c). It has no exit signal, so that plain waits do
 * not see it.
 */
#define _GNU_SOURCE
#include "engine/host/launch.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "engine/host/link.h"
#include "engine/start/boot.h"

enum { STACK = 64 << 10 };

static struct inject_job job_memory;
static uint8_t tracer_stack[STACK] __attribute__((aligned(64)));

static int trace(void *job)
{
    inject_tracer(job);
    return 0;
}

static int start_tracer(struct inject_job *job, struct err *err)
{
    pid_t pid = clone(trace, tracer_stack + STACK, CLONE_VM, job);
    if (pid < 0)
        return err_set(err, "fork: %m");
    job->tracer = pid;
    int r = inject_ready(job);
    if (r)
        inject_reap(job->tracer);
    if (r == -EPERM)
        return err_set(err, "ptrace is not permitted here; the engine needs it once, at exec");
    return r ? err_set(err, "ptrace: %s", strerror(-r)) : 0;
}

int launch_exec(const struct launch *l, struct err *err)
{
    sigset_t all, old;
    struct inject_job *job = &job_memory;
    memset(job, 0, sizeof *job);
    if (l->options && strlen(l->options) >= sizeof job->options)
        return err_set(err, "options too long");
    struct image *im = link_image(err);
    if (!im)
        return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    job->image = im;
    memcpy(&job->mask, &old, sizeof job->mask);
    job->tracee = getpid();
    if (l->options)
        strcpy(job->options, l->options);
    if (start_tracer(job, err) < 0) {
        sigprocmask(SIG_SETMASK, &old, NULL);
        link_free(im);
        return -1;
    }
    execv(l->path, l->argv);
    int why = errno;
    kill(job->tracer, SIGKILL);
    inject_reap(job->tracer);
    link_free(im);
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = why;
    return err_set(err, "%m");
}
