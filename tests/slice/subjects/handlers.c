/* handlers.c - signals: registers pass through frames, handlers change them, jump out, end a wait.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile int count, wanted = 3;
static volatile long stack_seen;
static char other_stack[65536];

static void on_usr(int sig)
{
    count += sig;
    if (count < 30)
        raise(SIGUSR2);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)sig, (void)info;
    stack_seen += uc->uc_mcontext.gregs[REG_RSP];
    uc->uc_mcontext.gregs[REG_RAX] = wanted + uc->uc_mcontext.gregs[REG_RBX];
    uc->uc_mcontext.gregs[REG_RIP] += 3;
}

static void on_fpe(int sig)
{
    siglongjmp(out, sig);
}

static long faulting(long x)
{
    long result;
    __asm__ volatile(
        "movq %1, %%rbx\n\txorl %%ecx, %%ecx\n\tmovq %%rbx, %%xmm5\n\tcmpq $5, %%rbx\n\t"
        "movq (%%rcx), %%rax\n\tadcq $0, %%rax\n\tmovq %%xmm5, %%rcx\n\taddq %%rcx, %%rax"
        : "=a"(result)
        : "r"(x)
        : "rbx", "rcx", "xmm5", "cc", "memory");
    return result;
}

static void handle(int sig, void (*f)(int), void (*g)(int, siginfo_t *, void *), int flags)
{
    struct sigaction sa = {.sa_flags = flags};
    if (g)
        sa.sa_sigaction = g;
    else
        sa.sa_handler = f;
    sigaction(sig, &sa, NULL);
}

int main(int argc, char **argv)
{
    stack_t st = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    volatile int zero = 0;
    sigset_t none, one;
    (void)argv;
    sigaltstack(&st, NULL);
    handle(SIGUSR1, on_usr, NULL, 0);
    handle(SIGUSR2, on_usr, NULL, SA_ONSTACK | SA_NODEFER);
    handle(SIGSEGV, NULL, on_fault, SA_SIGINFO | SA_ONSTACK);
    handle(SIGFPE, on_fpe, NULL, 0);
    raise(SIGUSR1);
    long total = faulting(argc + 40) + faulting(count);
    if (sigsetjmp(out, 1) == 0)
        total += argc / zero;
    handle(SIGALRM, on_usr, NULL, 0);
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGALRM);
    sigprocmask(SIG_BLOCK, &one, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 2000}}, NULL);
    for (int before = count; count == before; total++)
        sigsuspend(&none);
    printf("%d %d\n", count, total != 0);
    return 0;
}
