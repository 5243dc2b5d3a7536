/* vfork.c - vfork: the child's writes are seen by the parent, exec and failing exec, status. */
#include "subject.h"
#include <sched.h>

static volatile int shared;

int main(void)
{
    volatile int local = 1;
    pid_t pid = vfork();
    if (pid == 0) {
        shared = 5;
        local = 7;
        _exit(33);
    }
    reap("child", pid);
    say("shared %d local %d\n", shared, local);
    pid = vfork();
    if (pid == 0) {
        execl("/bin/echo", "echo", "from", "vfork", NULL);
        _exit(1);
    }
    reap("echo", pid);
    pid = vfork();
    if (pid == 0) {
        execl("/nowhere/at/all", "x", NULL);
        shared = errno;
        _exit(127);
    }
    reap("missing", pid);
    check(shared == ENOENT);
    volatile int ok = 0;
    for (volatile int i = 0; i < 50; i++) {
        pid = vfork();
        if (pid == 0) {
            shared = i;
            _exit(i);
        }
        int st;
        ok += waitpid(pid, &st, 0) == pid && WEXITSTATUS(st) == i && shared == i;
    }
    say("many %d\n", ok);
    pid = vfork();
    if (pid == 0) {
        raise(SIGKILL);
        _exit(0);
    }
    reap("killed", pid);
    return 0;
}
