/* ptrace_refused.c - ptrace by the program: EPERM. */
#include "rule.h"
#include <sys/ptrace.h>

int main(void)
{
    check(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1 && errno == EPERM);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    check(ptrace(PTRACE_ATTACH, child, NULL, NULL) == -1 && errno == EPERM);
    kill(child, SIGKILL);
    reap("child", child);
    say("process %d\n", getpid());
    return 0;
}
