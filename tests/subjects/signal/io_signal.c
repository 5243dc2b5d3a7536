/* io_signal.c - SIGIO from a descriptor, SIGPIPE ignored gives EPIPE, signals during large writes.
 */
#include "subject.h"
#include <sys/socket.h>
#include <sys/time.h>

static volatile int io, band, alarms;

static void on_io(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    if (sig == SIGALRM) {
        alarms++;
        return;
    }
    io = si->si_code;
    band = (int)si->si_band;
}

int main(void)
{
    int sv[2], p[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) || pipe(p))
        return 1;
    on_signal(SIGRTMIN, on_io, SA_RESTART);
    on_signal(SIGALRM, on_io, SA_RESTART);
    fcntl(sv[0], F_SETOWN, getpid());
    fcntl(sv[0], F_SETSIG, SIGRTMIN);
    fcntl(sv[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    write(sv[1], "x", 1);
    while (!io)
        usleep(1000);
    say("SIGIO code %d band %x\n", io, band);
    signal(SIGPIPE, SIG_IGN);
    close(sv[0]);
    check(write(sv[1], "x", 1) == -1 && errno == EPIPE);
    pid_t pid = fork();
    if (pid == 0) {
        static char buf[5000];
        long sum = 0, n;
        close(p[1]);
        while ((n = read(p[0], buf, sizeof buf)) > 0)
            for (long i = 0; i < n; i++)
                sum = sum * 31 + buf[i];
        say("sum %lx\n", sum);
        _exit(0);
    }
    static char big[1000000];
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i * 7 + i / 1000);
    struct itimerval it = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &it, NULL);
    for (size_t done = 0; done < sizeof big;) {
        ssize_t n = write(p[1], big + done, sizeof big - done);
        if (n > 0)
            done += (size_t)n;
    }
    close(p[1]);
    reap("reader", pid);
    return 0;
}
