/* seccomp.c - the program's own filter: an errno for one call, SIGSYS with its fields, strict
 * death, of a thread and of the process. */
#include "subject.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

static void filter(int call, unsigned action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0);
}

static void on_sys(int sig, siginfo_t *si, void *uc)
{
    say("signal %d code %d call %d errno %d arch %s\n", sig, si->si_code, si->si_syscall,
        si->si_errno, si->si_arch == AUDIT_ARCH_X86_64 ? "x86-64" : "?");
    ((ucontext_t *)uc)->uc_mcontext.gregs[REG_RAX] = 4321;
}

static void trap_child(void)
{
    on_signal(SIGSYS, on_sys, 0);
    filter(SYS_getppid, SECCOMP_RET_TRAP | 77);
    say("getppid gave %ld\n", syscall(SYS_getppid));
    _exit(3);
}

/* Ends by its filter, or by strict mode; the process goes on. */
static void *killed(void *is_strict)
{
    if (is_strict)
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    else
        filter(SYS_getppid, SECCOMP_RET_KILL_THREAD);
    syscall(SYS_getppid);
    say("a killed thread goes on\n");
    return NULL;
}

static void kill_threads(void)
{
    pthread_t t;
    for (long is_strict = 0; is_strict < 2; is_strict++) {
        pthread_create(&t, NULL, killed, (void *)is_strict);
        pthread_join(t, NULL);
        say("joined\n");
    }
    filter(SYS_getppid, SECCOMP_RET_USER_NOTIF);
    check(syscall(SYS_getppid) == -1 && errno == ENOSYS);
    filter(SYS_getppid, SECCOMP_RET_KILL_THREAD);
    syscall(SYS_getppid); /* the last one: SIGSYS */
    _exit(4);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        kill_threads();
    pid_t pid = fork();
    if (pid == 0)
        trap_child();
    reap("trap", pid);
    pid = fork();
    if (pid == 0) {
        filter(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
        syscall(SYS_getppid);
        _exit(1);
    }
    reap("kill", pid);
    filter(SYS_getppid, SECCOMP_RET_ERRNO | 42);
    check(syscall(SYS_getppid) == -1 && errno == 42);
    check(prctl(PR_GET_SECCOMP) == 2);
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == -1 && errno == EINVAL);
    pid = fork();
    if (pid == 0)
        _exit(syscall(SYS_getppid) == -1 ? 5 : 6);
    reap("inherited", pid);
    return 0;
}
