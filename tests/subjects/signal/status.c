/* status.c - children ended by each signal's default action, stopped and continued, seen by wait.
 */
#include "subject.h"

int main(void)
{
    for (int s = 1; s <= 64; s++) {
        if (s == 32 || s == 33 || s == SIGSTOP || s == SIGTSTP || s == SIGTTIN || s == SIGTTOU)
            continue;
        pid_t pid = fork();
        if (pid == 0) {
            send_self(s);
            _exit(100);
        }
        int st;
        waitpid(pid, &st, 0);
        say("%d:%x%s", s, st & ~0x80, s % 8 ? " " : "\n");
    }
    int p[2];
    check(pipe(p) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        char c;
        for (int n = 0; n < 4; n++) {
            send_self(SIGSTOP);
            read(p[0], &c, 1);
        }
        _exit(8);
    }
    siginfo_t si;
    for (int n = 0; n < 4; n++) {
        check(waitid(P_PID, (id_t)pid, &si, WSTOPPED | WEXITED) == 0 && si.si_code == CLD_STOPPED);
        check(si.si_status == SIGSTOP);
        kill(pid, SIGCONT);
        check(waitid(P_PID, (id_t)pid, &si, WCONTINUED) == 0 && si.si_code == CLD_CONTINUED);
        write(p[1], "x", 1);
    }
    reap("stopped four times", pid);
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    kill(pid, SIGSTOP);
    int st;
    check(waitpid(pid, &st, WUNTRACED) == pid && WIFSTOPPED(st) && WSTOPSIG(st) == SIGSTOP);
    kill(pid, SIGKILL);
    reap("killed while stopped", pid);
    return 0;
}
