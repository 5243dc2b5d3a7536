/* held.c - hardware signals that somebody sends while all threads, or all but one, block them: who
 * takes them, when, and what it is told. */
#include "subject.h"
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile int hits, told_code, told_pid;
static volatile pid_t taker;
static sigset_t both, none;

static void handler(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    hits++;
    taker = gettid();
    told_code = info->si_code;
    told_pid = info->si_pid == getpid();
}

static void show(const char *what, int result)
{
    say("%s %d: %d taken, by me %d, code %d, my pid %d\n", what, result, hits, taker == gettid(),
        told_code, told_pid);
    hits = taker = told_code = told_pid = 0;
}

static void show_pending(void)
{
    sigset_t set;
    sigpending(&set);
    say("pending: %d %d\n", sigismember(&set, SIGSEGV), sigismember(&set, SIGFPE));
}

/* It alone has the signal open: the handler has run when kill() returns. */
static void *sends(void *arg)
{
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    show("sent", kill(getpid(), SIGFPE));
    return arg;
}

static void *suspends(void *arg)
{
    show("suspended", sigsuspend(&none));
    return arg;
}

static void *waits(void *arg)
{
    siginfo_t info;
    int sig = sigwaitinfo(&both, &info);
    say("waited %d, code %d, my pid %d\n", sig, info.si_code, info.si_pid == getpid());
    return arg;
}

static void in_thread(void *(*body)(void *), int sig)
{
    pthread_t t;
    pthread_create(&t, NULL, body, NULL);
    if (sig)
        kill(getpid(), sig);
    pthread_join(t, NULL);
}

/* Calls with a mask of their own do not wait if it opens what is pending. */
static void calls_with_masks(void)
{
    struct timespec long_time = {1000, 0};
    struct epoll_event event;
    int epoll = epoll_create1(0);
    raise(SIGSEGV);
    show("ppoll", ppoll(NULL, 0, &long_time, &none));
    kill(getpid(), SIGSEGV);
    show("pselect", pselect(0, NULL, NULL, NULL, &long_time, &none));
    kill(getpid(), SIGFPE);
    show("epoll_pwait", epoll_pwait(epoll, &event, 1, -1, &none));
    sigset_t one = none;
    sigaddset(&one, SIGSEGV);
    kill(getpid(), SIGSEGV);
    kill(getpid(), SIGFPE);
    show_pending();
    show("sigsuspend", sigsuspend(&one));
    show_pending();
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    show("unblocked", 0);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, SIGFPE);
    sigaddset(&both, SIGSEGV);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    in_thread(sends, 0);
    in_thread(suspends, SIGFPE);
    in_thread(suspends, SIGSEGV);
    in_thread(waits, SIGFPE);
    calls_with_masks();
    return 0;
}
