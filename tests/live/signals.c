/* signals.c - signals that a program sends to itself, blocks, waits for; for a debugger that takes
 * some of them first. SPDX-License-Identifier: MIT
 *
 * It says WRONG where a signal does not come as it does natively.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t got[65];
static volatile sig_atomic_t fault_code;
static volatile int spare;

__attribute__((noinline)) void handles(int sig)
{
    got[sig]++;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    (void)sig;
    fault_code = info->si_code;
    c->uc_mcontext.gregs[REG_RAX] = (long)&spare;
}

__attribute__((noinline)) int twice(int x)
{
    __asm__ volatile("");
    return 2 * x;
}

__attribute__((noinline)) void here(void)
{
    __asm__ volatile("");
}

static void check(int holds, int sig, const char *what)
{
    if (!holds)
        printf("WRONG: signal %d: %s\n", sig, what);
}

static void comes(int sig)
{
    sigset_t set, pending;
    int taken = 0;
    sigemptyset(&set);
    sigaddset(&set, sig);
    got[sig] = 0;
    kill(getpid(), sig);
    raise(sig);
    check(got[sig] == 2, sig, "it has come when the call that sends it is over");
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(sig);
    kill(getpid(), sig);
    sigpending(&pending);
    check(got[sig] == 2 && sigismember(&pending, sig), sig, "it waits while it is blocked");
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    check(got[sig] == 4, sig,
          "the thread's and the process's come when it is not blocked any more");
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), sig);
    sigwait(&set, &taken);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    check(got[sig] == 4 && taken == sig, sig, "sigwait takes it");
}

static void *waits(void *arg)
{
    sigset_t set;
    int taken = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    printf("waits\n");
    fflush(stdout);
    sigwait(&set, &taken);
    printf("taken %d\n", taken);
    return arg;
}

int main(void)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTSTP, SIGUSR1};
    struct sigaction action = {.sa_handler = handles};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        sigaction(signals[i], &action, NULL);
        comes(signals[i]);
    }
    here();
    action = (struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    __asm__ volatile("movl $1, (%0)" : : "a"(8L) : "memory");
    check(fault_code == SEGV_MAPERR && spare == 1, SIGSEGV, "the handler is told of the fault");
    sigset_t set;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, waits, NULL);
    pthread_join(thread, NULL);
    printf("over\n");
    return 0;
}
