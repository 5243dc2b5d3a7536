/* timers_sigev.c - POSIX timers by signal and by thread, and the interval timers: where in the
 * counting each expiry is seen. */
#include "rule.h"
#include <sys/time.h>

static volatile uint64_t counter;
static volatile sig_atomic_t hits;
static int by_thread;
static uint64_t seen_at[64];

static void on_timer(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (hits < 64)
        seen_at[hits] =
            counter + (uint64_t)sig + (uint64_t)info->si_code * 7 + (uint64_t)info->si_overrun;
    hits++;
}

static void on_thread(union sigval value)
{
    __atomic_add_fetch(&by_thread, value.sival_int, __ATOMIC_SEQ_CST);
}

static void spin(int want)
{
    while (hits < want)
        counter++;
}

int main(void)
{
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
    struct itimerspec its = {{0, 2000000}, {0, 1000000}}, off = {{0, 0}, {0, 0}};
    struct itimerval itv = {{0, 3000}, {0, 1000}}, itv_off = {{0, 0}, {0, 0}};
    timer_t timer, threads;
    on_signal(SIGRTMIN + 3, on_timer, 0);
    on_signal(SIGALRM, on_timer, 0);
    on_signal(SIGPROF, on_timer, 0);
    check(timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0 &&
          timer_settime(timer, 0, &its, NULL) == 0);
    spin(8);
    timer_settime(timer, 0, &off, NULL);
    say("rt: %016lx\n", digest(seen_at, sizeof seen_at));
    setitimer(ITIMER_REAL, &itv, NULL);
    spin(16);
    setitimer(ITIMER_REAL, &itv_off, NULL);
    setitimer(ITIMER_PROF, &itv, NULL);
    spin(20);
    setitimer(ITIMER_PROF, &itv_off, &itv);
    say("all: %016lx, counter %lu, left %ld\n", digest(seen_at, sizeof seen_at), counter,
        itv.it_value.tv_usec);
    struct sigevent te = {.sigev_notify = SIGEV_THREAD,
                          .sigev_notify_function = on_thread,
                          .sigev_value.sival_int = 3};
    check(timer_create(CLOCK_REALTIME, &te, &threads) == 0 &&
          timer_settime(threads, 0, &its, NULL) == 0);
    while (__atomic_load_n(&by_thread, __ATOMIC_SEQ_CST) < 9)
        sleep_ms(1);
    timer_settime(threads, 0, &off, NULL);
    sleep_ms(5);
    say("thread: %d, overrun %d\n", by_thread, timer_getoverrun(threads));
    check(timer_delete(timer) == 0 && timer_delete(threads) == 0);
    return 0;
}
