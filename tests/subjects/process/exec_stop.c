/* exec_stop.c - a process that does nothing but exec is stopped and continued with its group, at
 * whatever moment: each stop is seen, and it goes on after each.
 */
#include "subject.h"

int main(int argc, char **argv)
{
    const int rounds = subject_rounds(30);
    int stopped = 0, continued = 0, status;

    if (argc > 1)
        execv("/proc/self/exe", argv);
    pid_t pid = fork();
    if (pid == 0) {
        char *again[] = {argv[0], "again", NULL};
        setpgid(0, 0);
        execv("/proc/self/exe", again);
    }
    setpgid(pid, pid);
    for (int i = 0; i < rounds; i++) {
        usleep((useconds_t)(i % 10) * 300);
        kill(-pid, SIGSTOP);
        stopped += waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
        kill(-pid, SIGCONT);
        continued += waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status);
    }
    check(stopped == rounds);
    check(continued == rounds);
    kill(-pid, SIGTERM);
    check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    return 0;
}
