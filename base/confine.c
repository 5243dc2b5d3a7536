/* confine.c - take from a process what it does not need, for good. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* AT_EMPTY_PATH */
#include "base/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

/* A call that is allowed; with a mask, if that part of an argument has that value. A call may have
 * several rows. */
struct row {
    uint32_t call, arg, mask, value;
};

static const struct row allowed[] = {
    /* descriptors that are open */
    {SYS_read, 0, 0, 0},
    {SYS_write, 0, 0, 0},
    {SYS_readv, 0, 0, 0},
    {SYS_writev, 0, 0, 0},
    {SYS_pread64, 0, 0, 0},
    {SYS_pwrite64, 0, 0, 0},
    {SYS_preadv, 0, 0, 0},
    {SYS_pwritev, 0, 0, 0},
    {SYS_lseek, 0, 0, 0},
    {SYS_fstat, 0, 0, 0},
    {SYS_newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH}, /* how libc calls fstat */
    {SYS_ftruncate, 0, 0, 0},
    {SYS_fadvise64, 0, 0, 0},
    {SYS_close, 0, 0, 0},
    {SYS_sendmsg, 0, 0, 0},
    {SYS_recvmsg, 0, 0, 0},
    {SYS_poll, 0, 0, 0},
    {SYS_ppoll, 0, 0, 0},
    {SYS_ioctl, 1, UINT32_MAX, TCGETS}, /* isatty(); others type for the user */
    {SYS_fcntl, 1, UINT32_MAX, F_GETFL},
    {SYS_fcntl, 1, UINT32_MAX, F_GETFD},
    {SYS_fcntl, 1, UINT32_MAX, F_SETFD},
    {SYS_fcntl, 1, UINT32_MAX, F_DUPFD_CLOEXEC},
    /* memory; no new code */
    {SYS_mmap, 2, PROT_EXEC, 0},
    {SYS_mprotect, 2, PROT_EXEC, 0},
    {SYS_munmap, 0, 0, 0},
    {SYS_mremap, 0, 0, 0},
    {SYS_madvise, 0, 0, 0},
    {SYS_brk, 0, 0, 0},
    /* threads */
    {SYS_clone, 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM},
    {SYS_futex, 0, 0, 0},
    {SYS_set_robust_list, 0, 0, 0},
    {SYS_rseq, 0, 0, 0},
    {SYS_sched_yield, 0, 0, 0},
    {SYS_exit, 0, 0, 0},
    {SYS_exit_group, 0, 0, 0},
    /* signals of its own */
    {SYS_rt_sigaction, 0, 0, 0},
    {SYS_rt_sigprocmask, 0, 0, 0},
    {SYS_rt_sigreturn, 0, 0, 0},
    {SYS_sigaltstack, 0, 0, 0},
    {SYS_restart_syscall, 0, 0, 0},
    /* questions */
    {SYS_getpid, 0, 0, 0},
    {SYS_gettid, 0, 0, 0},
    {SYS_getrandom, 0, 0, 0},
    {SYS_clock_gettime, 0, 0, 0},
    {SYS_sysinfo, 0, 0, 0},
    {SYS_sched_getaffinity, 0, 0, 0},
};

enum { ROWS = sizeof allowed / sizeof allowed[0], ROW_CODE = 6, REST = 12 };

#define LOAD(field)       (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define RETURN(how)       (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, how)
#define IS(what, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what, yes, no)

static size_t add_row(struct sock_filter *code, const struct row *r)
{
    size_t n = 0;

    if (!r->mask) {
        code[n++] = IS(r->call, 0, 1);
        code[n++] = RETURN(SECCOMP_RET_ALLOW);
        return n;
    }
    code[n++] = IS(r->call, 0, 5);
    code[n++] = LOAD((uint32_t)(offsetof(struct seccomp_data, args) + 8 * r->arg));
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask);
    code[n++] = IS(r->value, 0, 1);
    code[n++] = RETURN(SECCOMP_RET_ALLOW);
    code[n++] = LOAD(offsetof(struct seccomp_data, nr));
    return n;
}

static int set_filter(void)
{
    struct sock_filter code[ROWS * ROW_CODE + REST];
    size_t n = 0;

    code[n++] = LOAD(offsetof(struct seccomp_data, arch));
    code[n++] = IS(AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = RETURN(SECCOMP_RET_KILL_PROCESS);
    code[n++] = LOAD(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ROWS; i++)
        n += add_row(code + n, &allowed[i]);
    code[n++] = IS(SYS_clone3, 0, 1); /* its flags are in memory; libc then takes clone */
    code[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    code[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
               ? -1
               : 0;
}

static int close_inherited(void)
{
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;

    if (!list)
        return -1;
    while ((entry = readdir(list))) {
        int fd = atoi(entry->d_name), flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            close(fd);
    }
    closedir(list);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return -1;
    close(null);
    return 0;
}

void confine_drop_handlers(void)
{
    struct sigaction now;

    for (int number = 1; number < NSIG; number++)
        if (!sigaction(number, NULL, &now) && now.sa_handler != SIG_DFL &&
            now.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
}

int confine_self(struct err *err)
{
    const struct rlimit none = {0, 0};

    if (memory_bound(err))
        return -1;
    confine_drop_handlers(); /* they could signal nobody, not this process either */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || setrlimit(RLIMIT_CORE, &none) || close_inherited() ||
        set_filter())
        return err_set_code(err, errno, "this process cannot be confined: %s", strerror(errno));
    return 0;
}
