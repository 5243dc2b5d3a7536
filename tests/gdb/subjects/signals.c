/* signals.c - handlers, nested, from kill, a timer and a fault. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

volatile int handled, alarms, faults;
static sigjmp_buf out;

static void on_usr1(int sig)
{
    handled++; /* HANDLER */
    if (handled == 1)
        raise(SIGUSR2); /* NESTED */
    (void)sig;
}

static void on_usr2(int sig)
{
    handled += 10; /* INNER HANDLER */
    (void)sig;
}

static void on_alarm(int sig)
{
    alarms++;
    (void)sig;
}

static void on_segv(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    faults += info->si_addr == (void *)0x1234; /* FAULT HANDLER */
    siglongjmp(out, 1);
}

static void set(int sig, void (*handler)(int))
{
    struct sigaction act = {.sa_handler = handler};
    sigaction(sig, &act, NULL);
}

int main(void)
{
    struct sigaction fault = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    struct itimerval soon = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    volatile unsigned spun = 0;
    set(SIGUSR1, on_usr1);
    set(SIGUSR2, on_usr2);
    set(SIGALRM, on_alarm);
    sigaction(SIGSEGV, &fault, NULL);
    for (int i = 0; i < 3; i++)
        kill(getpid(), SIGUSR1); /* KILLS */
    setitimer(ITIMER_REAL, &soon, NULL);
    while (alarms < 2)
        pause(); /* PAUSES */
    while (alarms < 3)
        spun++; /* SPINS */
    setitimer(ITIMER_REAL, &never, NULL);
    if (sigsetjmp(out, 1) == 0)
        *(volatile int *)0x1234 = 1;                                          /* FAULTS */
    printf("handled %d alarms %d faults %d\n", handled, alarms >= 3, faults); /* SIGNALLED */
    return 0;
}
