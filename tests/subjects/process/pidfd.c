/* pidfd.c - clone3 with CLONE_PIDFD as fork, waitid by pidfd, pidfd_send_signal, raw clone fork. */
#include "subject.h"
#include <linux/sched.h>
#include <poll.h>

int main(void)
{
    int fd = -1;
    struct clone_args a = {.flags = CLONE_PIDFD, .pidfd = (uintptr_t)&fd, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &a, sizeof a);
    if (pid == 0) {
        for (;;)
            pause();
    }
    struct pollfd p = {fd, POLLIN, 0};
    check(pid > 0 && fd >= 3);
    check(poll(&p, 1, 0) == 0);
    check(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0) == 0);
    check(poll(&p, 1, 5000) == 1);
    siginfo_t si;
    check(waitid((idtype_t)3, (id_t)fd, &si, WEXITED) == 0 && si.si_status == SIGUSR1);
    check(si.si_code == CLD_KILLED && si.si_pid == pid);
    int child_tid = 0, parent_tid = 0;
    pid = syscall(SYS_clone, SIGCHLD | CLONE_CHILD_SETTID | CLONE_PARENT_SETTID, 0, &parent_tid,
                  &child_tid, 0);
    if (pid == 0)
        _exit(child_tid == (int)syscall(SYS_getpid) ? 3 : 4);
    check(parent_tid == pid);
    reap("raw clone", (pid_t)pid);
    pid = syscall(SYS_fork);
    if (pid == 0)
        syscall(SYS_exit_group, 300);
    reap("raw fork", (pid_t)pid);
    pid = fork();
    if (pid == 0)
        syscall(SYS_exit, 6);
    reap("plain exit", (pid_t)pid);
    return 0;
}
