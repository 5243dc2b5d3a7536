/* forks.c - fork many times, nested, with pipes, orphans, groups and sessions; wait in all its
 * forms. */
#include "subject.h"
#include <sys/prctl.h>
#include <sys/resource.h>

static long tree(int depth)
{
    int p[2];
    long sum = 1, part;
    if (depth == 0 || pipe(p))
        return 1;
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            part = tree(depth - 1);
            _exit(write(p[1], &part, sizeof part) != sizeof part);
        }
    for (int i = 0; i < 2; i++)
        if (read(p[0], &part, sizeof part) == sizeof part)
            sum += part;
    while (wait(NULL) > 0)
        ;
    close(p[0]);
    close(p[1]);
    return sum;
}

static void orphan(void)
{
    int p[2];
    char c = '?';
    if (pipe(p))
        return;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t me = getpid(), pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            while (getppid() != me)
                usleep(1000);
            write(p[1], "o", 1);
            _exit(44);
        }
        _exit(43);
    }
    reap("middle", pid);
    read(p[0], &c, 1);
    say("orphan says %c\n", c);
    int st = 0;
    check(wait(&st) > 0 && WEXITSTATUS(st) == 44);
}

int main(void)
{
    say("tree of %ld\n", tree(4));
    int ok = 0;
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(i);
        int st;
        ok += waitpid(pid, &st, 0) == pid && WEXITSTATUS(st) == i;
    }
    say("sequential %d\n", ok);
    pid_t pid = fork();
    if (pid == 0) {
        check(setsid() == getpid() && getpgrp() == getpid() && getsid(0) == getpid());
        _exit(0);
    }
    reap("session", pid);
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    check(setpgid(pid, pid) == 0 && getpgid(pid) == pid);
    check(waitpid(-pid, NULL, WNOHANG) == 0);
    siginfo_t si = {0};
    check(waitid(P_PGID, (id_t)pid, &si, WEXITED | WNOHANG) == 0 && si.si_pid == 0);
    check(kill(-pid, SIGTERM) == 0);
    check(waitid(P_PGID, (id_t)pid, &si, WEXITED | WNOWAIT) == 0 && si.si_status == SIGTERM);
    struct rusage ru;
    int st;
    check(wait4(pid, &st, 0, &ru) == pid && WTERMSIG(st) == SIGTERM);
    check(wait(NULL) == -1 && errno == ECHILD);
    orphan();
    return 0;
}
