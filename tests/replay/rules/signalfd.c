/* signalfd.c - signals read as data: sender, value, order. */
#include "rule.h"
#include <sys/signalfd.h>

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int i = 0; i < 5; i++) {
        union sigval v;
        fill(&v, sizeof v);
        check(sigqueue(getpid(), SIGRTMIN, v) == 0);
    }
    pid_t child = fork();
    if (child == 0)
        _exit(9);
    ualarm(3000, 0);
    for (int i = 0; i < 7; i++) {
        struct signalfd_siginfo si;
        check(read(fd, &si, sizeof si) == (ssize_t)sizeof si);
        say("signal %u code %d pid %u value %lx status %d\n", si.ssi_signo, si.ssi_code, si.ssi_pid,
            si.ssi_signo == (unsigned)SIGRTMIN ? si.ssi_ptr : 0, si.ssi_status);
        check(si.ssi_signo != SIGCHLD || si.ssi_pid == (unsigned)child);
    }
    reap("child", child);
    return 0;
}
