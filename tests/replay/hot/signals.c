/* signals.c - a hot loop under timers of every kind and signals of another thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hot/loop.h"

#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <time.h>

static const uint8_t zero[64];
static volatile int done;
static pthread_t main_thread;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)info;
    loop_look(sig, context);
}

/* int3 is behind us; ud2 is stepped over */
static void on_trap(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)info;
    loop_look(sig, uc);
    if (sig == SIGILL)
        uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(loop_trap + 1);
}

static void *sender(void *arg)
{
    while (!done) {
        pthread_kill(main_thread, SIGUSR1);
        for (int i = 0; i < 50 && !done; i++)
            sched_yield();
    }
    return arg;
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&a.sa_mask);
    sigaction(sig, &a, NULL);
}

int main(int argc, char **argv)
{
    unsigned want = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    struct itimerval real = {{0, 300}, {0, 300}}, prof = {{0, 1000}, {0, 1000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec fast = {{0, 200000}, {0, 200000}};
    timer_t timer;
    pthread_t thread;
    uint64_t turns = 0;

    main_thread = pthread_self();
    handle(SIGALRM, on_signal);
    handle(SIGPROF, on_signal);
    handle(SIGUSR1, on_signal);
    handle(SIGRTMIN, on_signal);
    handle(SIGTRAP, on_trap);
    handle(SIGILL, on_trap);
    pthread_create(&thread, NULL, sender, NULL);
    setitimer(ITIMER_REAL, &real, NULL);
    setitimer(ITIMER_PROF, &prof, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &fast, NULL);
    while (seen.hits < want)
        turns += loop_run(3000, zero, 0);
    timer_delete(timer);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    done = 1;
    pthread_join(thread, NULL);
    printf("%lu turns, %u signals, digest %016lx, %lu wrong\n", turns, seen.hits, seen.digest,
           seen.wrong);
    return seen.wrong != 0;
}
