/* confine.c - what the replaying process may do: next to nothing.
 *
 * SPDX-License-Identifier: MIT
 *
 * The program that is replayed may come from a stranger, and it shares the address space with the
 * runtime, so the filter must be harmless even if that program owns the runtime: memory of its own,
 * waiting, ending, and nothing that opens, connects, sends, executes, signals or traces. The only
 * descriptor is that of the kept files, read-only.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/player.h"

/* A pass over /proc/self/maps; false when nothing was left to unmap. */
static bool unmap_pass(gaddr keep, gaddr keep_end)
{
    static char text[32 << 10];
    size_t have = 0;
    bool any = false;
    long fd = sys4(__NR_openat, -100, (long)"/proc/self/maps", 02000000, 0);
    if (fd < 0)
        post_failed("/proc/self/maps: error %ld", -fd);
    for (long n; have < sizeof text - 1; have += (size_t)n)
        if ((n = sys3(__NR_read, fd, (long)(text + have), (long)(sizeof text - 1 - have))) <= 0)
            break;
    sys1(__NR_close, fd);
    text[have] = 0;
    for (const char *p = text; *p;) {
        gaddr start, end;
        p = rt_hex(p, &start);
        p = rt_hex(p + 1, &end);
        while (*p && *p != '\n')
            p++;
        if (!*p)
            break; /* a part of a line: the next pass sees it */
        p++;
        if (start >> 47 || (start >= keep && end <= keep_end))
            continue;
        if (start < keep_end && end > keep)
            post_failed("the supervisor's memory reaches into the runtime's");
        any = true;
        if (SYS_FAILED(sys2(__NR_munmap, (long)start, (long)(end - start))))
            post_failed("the supervisor's memory at 0x%lx cannot be given up", start);
    }
    return any;
}

void confine_unmap_others(gaddr keep, gaddr keep_end)
{
    while (unmap_pass(keep, keep_end))
        ;
}

void confine(bool allow_copies)
{
    static const uint16_t allowed[] = {
        __NR_mmap,          __NR_munmap,          __NR_mprotect,
        __NR_mremap,        __NR_madvise,         __NR_mincore,
        __NR_futex,         __NR_memfd_create,    __NR_ftruncate,
        __NR_close,         __NR_rt_sigaction,    __NR_rt_sigprocmask,
        __NR_rt_sigreturn,  __NR_sigaltstack,     __NR_arch_prctl,
        __NR_clock_gettime, __NR_set_tid_address, __NR_exit,
        __NR_exit_group,    __NR_getppid,         __NR_restart_syscall,
    };
    enum { N = ARRAY_LEN(allowed), SET_NO_NEW_PRIVS = 38, SET_SECCOMP = 22, SET_DUMPABLE = 4 };
    struct sock_filter code[N + 12];
    size_t n = 0;
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N; i++)
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
                                         (uint8_t)(N - i - 1 + 1 + (allow_copies ? 1 : 0)), 0);
    if (allow_copies) /* fork alone: the flags are checked by nobody else */
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fork, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog prog = {.len = (uint16_t)n, .filter = code};
    long r = sys6(__NR_prctl, SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
    if (!r)
        r = sys3(__NR_prctl, SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&prog);
    if (r)
        post_failed("the replay cannot be confined (seccomp: error %ld)", -r);
}
