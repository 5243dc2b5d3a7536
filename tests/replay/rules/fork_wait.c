/* fork_wait.c - children's ends, in every form a parent can ask for: status, rusage, siginfo,
 * order. */
#include "rule.h"
#include <sys/resource.h>

static volatile int chld;
static volatile pid_t last_pid;

static void on_chld(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    chld++;
    last_pid = info->si_pid;
}

int main(void)
{
    on_signal(SIGCHLD, on_chld, SA_RESTART);
    uint64_t order = 0;
    for (int i = 0; i < 6; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            sleep_ms((7 * i) % 5);
            if (i == 4)
                kill(getpid(), SIGKILL);
            _exit(i);
        }
    }
    for (int i = 0; i < 5; i++) {
        int status;
        struct rusage ru;
        pid_t pid = wait4(-1, &status, 0, &ru);
        order = order * 31 + (uint64_t)pid + (uint64_t)status;
        say("%d ended %x, used %ld us\n", pid, (unsigned)status,
            ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
    }
    siginfo_t info;
    memset(&info, 0, sizeof info);
    check(waitid(P_ALL, 0, &info, WEXITED) == 0);
    say("%d code %d status %d uid %d\n", info.si_pid, info.si_code, info.si_status, info.si_uid);
    check(wait(NULL) == -1 && errno == ECHILD);
    check(chld >= 1);
    say("%d signals, the last by %d, order %016lx\n", chld, last_pid, order);
    return 0;
}
