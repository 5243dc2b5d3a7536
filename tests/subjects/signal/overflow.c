/* overflow.c - deep recursion until SIGSEGV on an alternate stack, jumped out of, several times. */
#include "subject.h"
#include <pthread.h>
#include <setjmp.h>

static sigjmp_buf env;

static void out(int sig, siginfo_t *si, void *uc)
{
    uintptr_t sp = (uintptr_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RSP];
    (void)sig;
    siglongjmp(env,
               (uintptr_t)si->si_addr + 65536 > sp && (uintptr_t)si->si_addr < sp + 65536 ? 1 : 2);
}

__attribute__((noinline)) static long recurse(long n)
{
    volatile long pad[32];
    pad[n & 31] = n;
    return recurse(n + 1) + pad[n & 31];
}

static void *dive(void *arg)
{
    stack_t ss = {.ss_sp = map_anon(65536, PROT_READ | PROT_WRITE), .ss_size = 65536};
    sigaltstack(&ss, NULL);
    for (volatile int i = 0; i < 3; i++) {
        int r = sigsetjmp(env, 1);
        if (r == 0)
            recurse(0);
        say("%s: overflow %d, address near rsp %s\n", (const char *)arg, i,
            r == 1 ? "yes" : "FAIL");
    }
    ss.ss_flags = SS_DISABLE;
    sigaltstack(&ss, NULL);
    return NULL;
}

int main(void)
{
    pthread_t t;
    on_signal(SIGSEGV, out, SA_ONSTACK);
    dive((void *)"main");
    pthread_create(&t, NULL, dive, (void *)"thread");
    pthread_join(t, NULL);
    say("now for good\n");
    recurse(0);
    return 0;
}
