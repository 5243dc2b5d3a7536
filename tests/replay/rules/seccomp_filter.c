/* seccomp_filter.c - the program's own filter: an error, a trap and death, as the program wrote
 * them; the runtime's calls are not touched by it. Ends by SIGSYS. */
#include "rule.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static volatile int traps;

static void on_sys(int sig, siginfo_t *info, void *context)
{
    (void)context;
    traps++;
    say("trap: signal %d, call %d, code %d\n", sig, info->si_syscall, info->si_code);
}

int main(void)
{
#define ON(nr, action)                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ON(SYS_getppid, SECCOMP_RET_ERRNO | 77),
        ON(SYS_getpgid, SECCOMP_RET_TRAP),
        ON(SYS_getsid, SECCOMP_RET_KILL_PROCESS),
        /* What a runtime would need for itself. */
        ON(SYS_mmap, SECCOMP_RET_ERRNO | EPERM),
        ON(SYS_futex, SECCOMP_RET_ERRNO | EPERM),
        ON(SYS_sendmsg, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {sizeof code / sizeof code[0], code};
    on_signal(SIGSYS, on_sys, 0);
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0);
    check(syscall(SYS_getppid) == -1 && errno == 77);
    syscall(SYS_getpgid, 0);
    check(traps == 1);
    check(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
          errno == EPERM);
    check(prctl(PR_GET_SECCOMP) == 2);
    uint64_t seen = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x;
        fill(&x, sizeof x);
        seen = seen * 31 + x;
    }
    say("%d saw %016lx\n", getpid(), seen);
    syscall(SYS_getsid, 0);
    say("alive FAIL\n");
    return 0;
}
