/* longjmp.c - siglongjmp out of handlers: of a fault, of an alarm in a loop; masks come back. */
#include "subject.h"
#include <setjmp.h>
#include <sys/time.h>

static sigjmp_buf env;
static volatile unsigned long spins;

static void out(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    siglongjmp(env, sig);
}

int main(void)
{
    volatile int segv = 0, alarms = 0;
    sigset_t now;
    on_signal(SIGSEGV, out, 0);
    for (volatile int i = 0; i < 2000; i++)
        if (sigsetjmp(env, 1) == 0)
            *(volatile int *)(uintptr_t)(16 * i) = 1;
        else
            segv++;
    say("segv %d\n", segv);
    sigprocmask(SIG_BLOCK, NULL, &now);
    check(!sigismember(&now, SIGSEGV));
    on_signal(SIGALRM, out, 0);
    for (volatile int i = 0; i < 20; i++) {
        if (sigsetjmp(env, 1) == 0) {
            struct itimerval it = {.it_value = {0, 2000}};
            setitimer(ITIMER_REAL, &it, NULL);
            for (;;)
                spins++;
        }
        alarms++;
    }
    say("alarms %d\n", alarms);
    on_signal(SIGSEGV, out, SA_NODEFER);
    segv = 0;
    for (volatile int i = 0; i < 50; i++)
        if (sigsetjmp(env, 0) == 0)
            *(volatile int *)8 = 1;
        else
            segv++;
    say("segv without the mask %d\n", segv);
    return 0;
}
