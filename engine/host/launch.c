/* launch.c - start a program under the engine.
 *
 * SPDX-License-Identifier: MIT
 *
 * This process will be the program. A grandchild, orphaned at once so that the program never sees
 * it, traces it over the exec and injects the runtime (os/inject.c).
 */
#define _GNU_SOURCE
#include "engine/host/launch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/host/link.h"
#include "engine/os/boot.h"

static int start_tracer(struct inject_job *job, struct err *err)
{
    pid_t pid =
        (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL); /* fork, without exit signal */
    if (pid < 0)
        return err_set(err, "fork: %m");
    if (pid == 0) {
        inject_tracer(job);
        _exit(0);
    }
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
    struct inject_job *job =
        mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job == MAP_FAILED)
        return err_set(err, "mmap: %m");
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
