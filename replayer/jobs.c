/* jobs.c - families of replaying processes stop with this process. SPDX-License-Identifier: MIT */
#include "replayer/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic pid_t group[JOBS_MOST]; /* 0: none; the handler reads them at any time */

static void tell_all(int signal_number)
{
    for (size_t i = 0; i < JOBS_MOST; i++) {
        const pid_t g = atomic_load(&group[i]);
        if (g)
            kill(-g, signal_number);
    }
}

/* Stops this process as if there were no handler: where nobody could let it go on, the kernel does
 * not stop it. */
static void stop(int signal_number)
{
    const int error = errno;
    struct sigaction ours, usual = {.sa_handler = SIG_DFL};
    sigset_t only, old;

    tell_all(SIGSTOP);
    sigaction(signal_number, &usual, &ours);
    raise(signal_number);
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &only, &old); /* here it stops */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(signal_number, &ours, NULL);
    tell_all(SIGCONT);
    errno = error;
}

static void catch_stops(void)
{
    static const int signals[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    const struct sigaction ours = {.sa_handler = stop, .sa_flags = SA_RESTART};
    struct sigaction now;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

void jobs_add(pid_t number)
{
    catch_stops();
    for (size_t i = 0; i < JOBS_MOST; i++) {
        pid_t none = 0;
        if (atomic_compare_exchange_strong(&group[i], &none, number))
            return;
    }
}

void jobs_remove(pid_t number)
{
    for (size_t i = 0; i < JOBS_MOST; i++) {
        pid_t known = number;
        if (atomic_compare_exchange_strong(&group[i], &known, 0))
            return;
    }
}
