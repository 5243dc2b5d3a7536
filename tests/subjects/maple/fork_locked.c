/* fork_locked.c - a process is forked while another thread may have a lock, and the child takes it.
 * SPDX-License-Identifier: MIT */
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

static long total;
static pthread_mutex_t m = MUTEX;

static void *add(void *arg)
{
    LOCK(m);
    total++; /* ROOT CAUSE */
    UNLOCK(m);
    return arg;
}

static void *spawn(void *arg)
{
    int status = 0;
    FIX(LOCK(m);)
    pid_t pid = fork();
    FIX(UNLOCK(m);)
    if (pid == 0) {
        if (pthread_mutex_trylock(&m))
            _exit(9); /* nobody is left to give it back */
        _exit(0);
    }
    waitpid(pid, &status, 0);
    CHECK(status == 0);
    return arg;
}

int main(void)
{
    RUN(2, add, spawn);
    return 0;
}
