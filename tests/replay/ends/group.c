/* group.c WHAT [SIGNAL] - signals to the process group, the program's own or somebody else's.
 *
 * all       takes every signal that can be taken, after kill(0) of it
 * kill N    kill(0, N), with its default action
 * wait N    takes N as often as it comes within a while
 * pause     stops itself until a child lets it go on
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int count, code;
static volatile pid_t from;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    count++;
    code = info->si_code;
    from = info->si_pid;
}

static void take(int sig)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(sig, &sa, NULL);
}

static void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t))
        ;
}

static int all(void)
{
    for (int sig = 1; sig <= SIGRTMAX; sig++) {
        if (sig == SIGKILL || sig == SIGSTOP || (sig > 31 && sig < SIGRTMIN))
            continue;
        take(sig);
        count = 0;
        kill(0, sig);
        rest(5);
        if (count != 1 || code != SI_USER || from != getpid())
            printf("signal %d: %d times, code %d, from %s\n", sig, count, code,
                   from == getpid() ? "itself" : "somebody");
    }
    printf("all taken\n");
    return 7;
}

static int wait_for(int sig)
{
    take(sig);
    printf("ready %d\n", getpid());
    fflush(stdout);
    for (int i = 0; !count && i < 1000; i++)
        rest(10);
    rest(300);
    printf("%d times, from %d\n", count, (int)from);
    return 7;
}

static int pause_self(void)
{
    pid_t parent = getpid();
    if (fork() == 0) {
        rest(300);
        kill(parent, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    printf("going on\n");
    return 7;
}

int main(int argc, char **argv)
{
    int sig = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 1 && !strcmp(argv[1], "all"))
        return all();
    if (argc > 1 && !strcmp(argv[1], "wait"))
        return wait_for(sig);
    if (argc > 1 && !strcmp(argv[1], "pause"))
        return pause_self();
    syscall(SYS_kill, 0, sig);
    rest(50);
    printf("survived\n");
    return 7;
}
