/* timers.c - alarm, setitimer of three kinds, timer_create with value, thread target, overrun. */
#include "subject.h"
#include <pthread.h>
#include <sys/time.h>

static volatile int hits, last_code, last_value, last_sig;
static volatile pid_t last_tid;

static void note(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    hits++;
    last_sig = sig;
    last_code = si->si_code;
    last_value = si->si_value.sival_int;
    last_tid = gettid();
}

static void spin_until(int n)
{
    for (volatile unsigned long i = 0; hits < n; i++)
        ;
}

static void itimer(const char *what, int which, int sig)
{
    struct itimerval it = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}}, was;
    on_signal(sig, note, 0);
    hits = 0;
    setitimer(which, &it, NULL);
    spin_until(5);
    setitimer(which, &off, &was);
    say("%s: signal %d code %d, interval %ld\n", what, last_sig, last_code,
        (was.it_interval.tv_usec + 500) / 1000);
}

static void *thread_timer(void *arg)
{
    timer_t t;
    struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1};
    struct itimerspec its = {{0, 2000000}, {0, 2000000}};
    ev._sigev_un._tid = gettid();
    on_signal(SIGRTMIN + 1, note, 0);
    hits = 0;
    timer_create(CLOCK_MONOTONIC, &ev, &t);
    timer_settime(t, 0, &its, NULL);
    spin_until(10);
    timer_delete(t);
    check(last_tid == gettid());
    return arg;
}

static void callback(union sigval v)
{
    __atomic_add_fetch(&hits, v.sival_int, __ATOMIC_SEQ_CST);
}

int main(void)
{
    on_signal(SIGALRM, note, 0);
    check(alarm(100) == 0 && alarm(1) == 100);
    pause();
    say("alarm: signal %d, left %u\n", last_sig, alarm(0));
    itimer("real", ITIMER_REAL, SIGALRM);
    itimer("virtual", ITIMER_VIRTUAL, SIGVTALRM);
    itimer("prof", ITIMER_PROF, SIGPROF);
    timer_t t;
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec its = {{0, 1000000}, {0, 1000000}}, left;
    ev.sigev_value.sival_int = 4711;
    on_signal(SIGUSR1, note, 0);
    hits = 0;
    check(timer_create(CLOCK_MONOTONIC, &ev, &t) == 0);
    check(timer_settime(t, 0, &its, NULL) == 0);
    spin_until(20);
    say("timer: signal %d code %d value %d\n", last_sig, last_code, last_value);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sleep_ms(20);
    siginfo_t si;
    check(sigwaitinfo(&set, &si) == SIGUSR1 && si.si_overrun >= 5);
    check(timer_gettime(t, &left) == 0 && left.it_interval.tv_nsec == 1000000);
    check(timer_delete(t) == 0 && timer_delete(t) == -1);
    pthread_t th;
    pthread_create(&th, NULL, thread_timer, NULL);
    pthread_join(th, NULL);
    struct sigevent cb = {.sigev_notify = SIGEV_THREAD};
    cb.sigev_notify_function = callback;
    cb.sigev_value.sival_int = 3;
    hits = 0;
    timer_create(CLOCK_REALTIME, &cb, &t);
    timer_settime(t, 0, &its, NULL);
    while (hits < 9)
        sleep_ms(1);
    timer_delete(t);
    say("thread notification came\n");
    return 0;
}
