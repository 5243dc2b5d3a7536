/* prof_state.c - SIGPROF at 1 kHz for 2 seconds: registers, flags, xmm, x87 and red zone stay
 * intact. */
#include "subject.h"
#include <math.h>

extern long state_loop(volatile long *stop, long seed);
static volatile long stop, hits, bad_rip;
static time_t end_s;
extern char __executable_start[], etext[];

static void tick(int sig, siginfo_t *si, void *uc)
{
    volatile double x = 1.5;
    greg_t rip = ((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];
    (void)sig, (void)si;
    for (int i = 0; i < 20; i++)
        x = sqrt(x * 3.7 + i);
    if ((char *)rip < __executable_start || (char *)rip >= etext)
        bad_rip++;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (++hits >= 200 && now.tv_sec >= end_s)
        stop = 1;
}

int main(void)
{
    timer_t t;
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec its = {{0, 1000000}, {0, 1000000}};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    end_s = now.tv_sec + 2;
    on_signal(SIGPROF, tick, SA_RESTART);
    timer_create(CLOCK_MONOTONIC, &ev, &t);
    timer_settime(t, 0, &its, NULL);
    say("broken: %ld\n", state_loop(&stop, 0x123456789));
    timer_delete(t);
    say("pc outside the program: %ld\n", bad_rip);
    return 0;
}
