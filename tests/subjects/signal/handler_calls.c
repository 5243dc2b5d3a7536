/* handler_calls.c - handlers that fork, make threads' work, longjmp between, and use AVX
 * themselves. */
#include "subject.h"
#include <sys/time.h>

static volatile int children, ticks;

static void forker(int sig, siginfo_t *si, void *uc)
{
    (void)si, (void)uc;
    if (sig == SIGALRM) {
        ticks++;
        return;
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(children + 1);
    int st;
    while (waitpid(pid, &st, 0) == -1)
        ;
    children += WIFEXITED(st) && WEXITSTATUS(st) == children + 1;
}

static unsigned fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
    on_signal(SIGUSR1, forker, 0);
    on_signal(SIGALRM, forker, SA_RESTART);
    struct itimerval it = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &it, NULL);
    for (int i = 0; i < 10; i++) {
        send_self(SIGUSR1);
        if (fib(20) != 6765)
            say("FAIL fib\n");
    }
    while (ticks < 50)
        if (fib(15) != 610)
            say("FAIL fib\n");
    say("children %d\n", children);
    return 0;
}
