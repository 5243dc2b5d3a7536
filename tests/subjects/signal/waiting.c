/* waiting.c - sigwaitinfo, sigtimedwait, sigwait, signalfd, pending sets and real-time order. */
#include "subject.h"
#include <poll.h>
#include <sys/signalfd.h>

static sigset_t set;

static void queue_many(void)
{
    for (int i = 0; i < 5; i++)
        for (int s = 3; s >= 0; s--)
            sigqueue(getpid(), SIGRTMIN + s, (union sigval){.sival_int = i});
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
}

static void log_rt(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    say(" %d:%d", sig == SIGUSR1 ? 0 : sig - SIGRTMIN, si->si_value.sival_int);
}

int main(void)
{
    siginfo_t si;
    struct timespec ts = {0, 10000000}, zero = {0, 0};
    sigset_t pend, none;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int s = 0; s < 4; s++)
        sigaddset(&set, SIGRTMIN + s);
    sigprocmask(SIG_BLOCK, &set, NULL);
    check(sigtimedwait(&set, &si, &ts) == -1 && errno == EAGAIN);
    check(sigtimedwait(&set, &si, &zero) == -1 && errno == EAGAIN);
    queue_many();
    sigpending(&pend);
    check(sigismember(&pend, SIGUSR1) && sigismember(&pend, SIGRTMIN + 3));
    say("sigwaitinfo:");
    while (sigtimedwait(&set, &si, &zero) > 0)
        log_rt(si.si_signo, &si, NULL);
    say("\n");
    sigpending(&pend);
    check(!sigismember(&pend, SIGUSR1));

    queue_many();
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    struct pollfd p = {fd, POLLIN, 0};
    check(poll(&p, 1, 1000) == 1 && p.revents == POLLIN);
    struct signalfd_siginfo fsi;
    say("signalfd:");
    while (read(fd, &fsi, sizeof fsi) == sizeof fsi)
        say(" %d:%d", fsi.ssi_signo == SIGUSR1 ? 0 : (int)fsi.ssi_signo - SIGRTMIN, fsi.ssi_int);
    say("\n");
    check(errno == EAGAIN);

    for (int s = 0; s < 4; s++)
        on_signal(SIGRTMIN + s, log_rt, 0);
    on_signal(SIGUSR1, log_rt, 0);
    queue_many();
    say("handlers:");
    sigprocmask(SIG_SETMASK, &none, NULL);
    say("\n");
    sigprocmask(SIG_BLOCK, &set, NULL);
    send_self(SIGUSR1);
    say("sigsuspend:");
    check(sigsuspend(&none) == -1 && errno == EINTR);
    send_self(SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    sigpending(&pend);
    check(!sigismember(&pend, SIGUSR1));
    int got = 0;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        sleep_ms(10);
        sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = 9});
        _exit(0);
    }
    check(sigwait(&set, &got) == 0 && got == SIGRTMIN);
    reap("sender", pid);
    return 0;
}
