/* fork_vector.c - a child of fork and a new thread start with the parent's vector control state. */
#include "subject.h"
#include <fenv.h>
#include <pthread.h>

static unsigned mxcsr(void)
{
    unsigned v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    return v;
}

static unsigned fcw(void)
{
    uint16_t v;
    __asm__ volatile("fnstcw %0" : "=m"(v));
    return v;
}

static void *thread(void *arg)
{
    say("thread %x %x\n", mxcsr() & 0xffc0, fcw());
    return arg;
}

static void handler(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    say("handler %x %x\n", mxcsr() & 0xffc0, fcw());
    fesetround(FE_TONEAREST);
}

int main(void)
{
    fesetround(FE_UPWARD);
    say("main %x %x\n", mxcsr() & 0xffc0, fcw());
    pid_t pid = fork();
    if (pid == 0) {
        say("child %x %x\n", mxcsr() & 0xffc0, fcw());
        _exit(0);
    }
    reap("child", pid);
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    on_signal(SIGUSR1, handler, 0);
    send_self(SIGUSR1);
    say("main again %x %x\n", mxcsr() & 0xffc0, fcw());
    check(fegetround() == FE_UPWARD);
    volatile double one = 1, three = 3;
    say("%.20g\n", one / three);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO);
    pid = fork();
    if (pid == 0) {
        volatile double zero = 0;
        say("%g\n", one / zero);
        _exit(0);
    }
    reap("unmasked division", pid);
    return 0;
}
