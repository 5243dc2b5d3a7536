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
#include <sys/wait.h>
#include <unistd.h>

#include "engine/host/link.h"
#include "engine/os/boot.h"

static int start_tracer(struct inject_job *job, struct err *err)
{
    pid_t mid = fork();
    if (mid < 0)
        return err_set(err, "fork: %m");
    if (mid == 0) {
        pid_t tracer = fork();
        if (tracer == 0)
            inject_tracer(job);
        else
            job->tracer = tracer;
        _exit(0);
    }
    while (waitpid(mid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (job->tracer <= 0)
        return err_set(err, "fork: %m");
    int r = inject_ready(job);
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
    struct image *im = link_image(err);
    if (!im)
        return -1;
    if (l->options && strlen(l->options) >= sizeof job->options)
        return err_set(err, "options too long");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    job->image = im;
    memcpy(&job->mask, &old, sizeof job->mask);
    job->tracee = getpid();
    if (l->options)
        strcpy(job->options, l->options);
    if (start_tracer(job, err) < 0) {
        sigprocmask(SIG_SETMASK, &old, NULL);
        return -1;
    }
    execv(l->path, l->argv);
    int why = errno;
    kill(job->tracer, SIGKILL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = why;
    return err_set(err, "%m");
}
