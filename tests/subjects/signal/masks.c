/* masks.c - masks and dispositions across threads, fork and exec; SIGCHLD; ignored children. */
#include "subject.h"
#include <pthread.h>

static volatile int chld, chld_code, chld_status;

static void on_chld(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)uc;
    chld++;
    chld_code = si->si_code;
    chld_status = si->si_status;
}

static void *show_mask(void *arg)
{
    sigset_t s;
    pthread_sigmask(SIG_BLOCK, NULL, &s);
    say("%s: usr1 %d usr2 %d\n", (const char *)arg, sigismember(&s, SIGUSR1),
        sigismember(&s, SIGUSR2));
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        struct sigaction sa;
        show_mask(argv[1]);
        sigaction(SIGUSR2, NULL, &sa);
        check(sa.sa_handler == SIG_IGN);
        sigaction(SIGCHLD, NULL, &sa);
        check(sa.sa_handler == SIG_DFL);
        sigset_t p;
        sigpending(&p);
        check(sigismember(&p, SIGUSR1));
        return 0;
    }
    pthread_t t;
    sigset_t one, old;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &old);
    pthread_create(&t, NULL, show_mask, (void *)"thread");
    pthread_join(t, NULL);
    on_signal(SIGCHLD, on_chld, SA_RESTART);
    pid_t pid = fork();
    if (pid == 0) {
        show_mask((void *)"child");
        _exit(13);
    }
    while (!chld)
        usleep(1000);
    say("SIGCHLD code %d status %d\n", chld_code, chld_status);
    reap("child", pid);
    pid = fork();
    if (pid == 0)
        send_self(SIGKILL);
    while (chld < 2)
        usleep(1000);
    say("SIGCHLD code %d status %d\n", chld_code, chld_status);
    reap("child", pid);
    signal(SIGCHLD, SIG_IGN);
    if ((pid = fork()) == 0)
        _exit(0);
    check(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
    on_signal(SIGCHLD, on_chld, SA_NOCLDWAIT);
    signal(SIGUSR2, SIG_IGN);
    send_self(SIGUSR1);
    execl("/proc/self/exe", argv[0], "after exec", NULL);
    return 1;
}
