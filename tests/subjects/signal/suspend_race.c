/* suspend_race.c - many signals against sigsuspend, ppoll and pselect: none lost, none out of
 * place. */
#include "subject.h"
#include <poll.h>
#include <sys/select.h>

static volatile int got, allowed, outside;

static void count(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    got++;
    if (!allowed)
        outside++;
}

/* Sends a signal for each byte read: the parent asks, then waits atomically. */
static void sender(int fd, pid_t to)
{
    char c[1];
    while (read(fd, c, 1) == 1)
        kill(to, SIGUSR1);
    _exit(0);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50000, p[2];
    sigset_t set, none;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    on_signal(SIGUSR1, count, 0);
    if (pipe(p))
        return 1;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(p[1]);
        sender(p[0], parent);
    }
    int wrong = 0;
    for (int i = 0; i < rounds; i++) {
        int before = got;
        if (i % 4 == 3)
            kill(parent, SIGUSR1);
        else
            wrong += write(p[1], "x", 1) != 1;
        allowed = 1;
        int r = i % 3 == 0   ? sigsuspend(&none)
                : i % 3 == 1 ? ppoll(NULL, 0, NULL, &none)
                             : pselect(0, NULL, NULL, NULL, NULL, &none);
        allowed = 0;
        wrong += r != -1 || errno != EINTR || got != before + 1;
    }
    close(p[1]);
    reap("sender", pid);
    say("got %d outside %d wrong %d\n", got, outside, wrong);
    return 0;
}
