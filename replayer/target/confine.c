/* confine.c - what the replaying process may do: next to nothing.
 *
 * SPDX-License-Identifier: MIT
 *
 * The program that is replayed may come from a stranger, and it shares the address space with the
 * runtime, so the filter must be harmless even if that program owns the runtime: memory of its own,
 * waiting, ending, and nothing that opens, connects, sends, executes, signals or traces. Arguments
 * are limited to those that the runtime uses: what is left of the kernel for an attacker is little,
 * too. The descriptors from outside, which stay open, are the kept files' (read-only), the
 * mailboxes' and the switch that ends this process with the supervisor (replayer/cage.c).
 *
 * The kernel looks at the low 32 bits of all arguments that are checked here.
 */
#include "replayer/target/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "debug/target/post.h"
#include "engine/rt/maplist.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

/* A pass over /proc/self/maps; false when nothing was left to unmap. */
static bool unmap_pass(gaddr keep, gaddr keep_end)
{
    static char text[32 << 10];
    struct maplist list;
    struct maplist_entry e;
    bool any = false;
    long error = maplist_open(&list, 0, text, sizeof text);
    if (error)
        post_failed("/proc/self/maps: error %ld", -error);
    while (maplist_next(&list, &e)) {
        if (e.start >> 47 || (e.start >= keep && e.end <= keep_end))
            continue;
        if (e.start < keep_end && e.end > keep)
            post_failed("the supervisor's memory reaches into the runtime's");
        any = true;
        if (SYS_FAILED(sys2(__NR_munmap, (long)e.start, (long)(e.end - e.start))))
            post_failed("the supervisor's memory at 0x%lx cannot be given up", e.start);
    }
    maplist_close(&list);
    return any;
}

void confine_unmap_others(gaddr keep, gaddr keep_end)
{
    while (unmap_pass(keep, keep_end))
        ;
}

enum check {
    ANY,
    ONE_OF,   /* the values, up to the first 0 behind the first */
    NO_OTHER, /* bits than those of the first value */
    AT_LEAST,
    AT_MOST,
};

enum { VALUES = 6, MADV_POPULATE_WRITE_ = 23, FIRST_OWN_FD = 3, SEEK_DATA_ = 3, SEEK_HOLE_ = 4 };

/* A call that is allowed if its argument passes the check. */
static const struct row {
    uint16_t nr;
    uint8_t check, arg;
    uint16_t error; /* the answer if it does not pass; 0: it is killed */
    uint32_t value[VALUES];
} rows[] = {
    {__NR_futex, ONE_OF, 1, 0, {FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAKE_PRIVATE}},
    {__NR_mmap,
     NO_OTHER,
     3,
     0,
     {MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE}},
    {__NR_munmap, ANY, 0, 0, {0}},
    {__NR_mprotect, NO_OTHER, 2, 0, {PROT_READ | PROT_WRITE | PROT_EXEC}},
    {__NR_mremap, NO_OTHER, 3, 0, {MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP}},
    {__NR_madvise, ONE_OF, 2, 0, {MADV_DONTNEED, MADV_REMOVE, MADV_HUGEPAGE, MADV_POPULATE_WRITE_}},
    {__NR_mincore, ANY, 0, 0, {0}},
    {__NR_memfd_create, ONE_OF, 1, 0, {0}},
    {__NR_ftruncate, AT_LEAST, 0, 0, {FIRST_OWN_FD}},
    {__NR_close, AT_LEAST, 0, 0, {FIRST_OWN_FD}},
    {__NR_lseek, ONE_OF, 2, 0, {SEEK_DATA_, SEEK_HOLE_}}, /* what of a file is there */
    {__NR_rt_sigaction, ANY, 0, 0, {0}},
    {__NR_rt_sigprocmask, ANY, 0, 0, {0}},
    {__NR_rt_sigreturn, ANY, 0, 0, {0}},
    {__NR_sigaltstack, ANY, 0, 0, {0}},
    /* Set and get of FS, GS; get of cpuid's state, of the mask and number of tag bits. The program
     * itself may ask for others, which the runtime passes on. */
    {__NR_arch_prctl, ONE_OF, 0, EINVAL, {0x1001, 0x1002, 0x1003, 0x1011, 0x4001, 0x4003}},
    {__NR_clock_gettime, AT_MOST, 0, 0, {CONFINE_CLOCKS}},
    {__NR_exit, ANY, 0, 0, {0}},
    {__NR_exit_group, ANY, 0, 0, {0}},
    {__NR_restart_syscall, ANY, 0, 0, {0}},
    {__NR_clone, ONE_OF, 0, 0, {CONFINE_COPY_FLAGS}}, /* the last one: not for everybody */
};

/* A row takes four instructions beside its checks. */
enum { ROW_MOST = VALUES + 4, CODE_MOST = ARRAY_LEN(rows) * ROW_MOST + 8 };

#define OP(what, value) ((struct sock_filter)BPF_STMT(what, value))
#define IF(what, value, yes, no)                                                                   \
    ((struct sock_filter)BPF_JUMP(BPF_JMP | (what) | BPF_K, value, yes, no))

/* The checks are followed by what is done if they fail, and that by what is done if they pass. */
static size_t put_checks(struct sock_filter *code, const struct row *row)
{
    size_t n = 0;
    uint8_t values = 1;
    switch ((enum check)row->check) {
    case ANY:
        code[n++] = OP(BPF_JMP | BPF_JA, 1);
        break;
    case ONE_OF:
        while (values < VALUES && row->value[values])
            values++;
        for (uint8_t i = 0; i < values; i++)
            code[n++] = IF(BPF_JEQ, row->value[i], (uint8_t)(values - i), 0);
        break;
    case NO_OTHER:
        code[n++] = IF(BPF_JSET, ~row->value[0], 0, 1);
        break;
    case AT_LEAST:
        code[n++] = IF(BPF_JGE, row->value[0], 1, 0);
        break;
    case AT_MOST:
        code[n++] = IF(BPF_JGT, row->value[0], 0, 1);
        break;
    }
    return n;
}

static size_t put_row(struct sock_filter *code, const struct row *row)
{
    size_t n = 1;
    code[n++] = OP(BPF_LD | BPF_W | BPF_ABS,
                   (uint32_t)(offsetof(struct seccomp_data, args) + 8u * row->arg));
    n += put_checks(code + n, row);
    code[n++] =
        OP(BPF_RET | BPF_K, row->error ? SECCOMP_RET_ERRNO | row->error : SECCOMP_RET_KILL_PROCESS);
    code[n++] = OP(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[0] = IF(BPF_JEQ, row->nr, 0, (uint8_t)(n - 1));
    return n;
}

void confine(bool allow_copies)
{
    enum { SET_NO_NEW_PRIVS = 38, SET_SECCOMP = 22 };
    static struct sock_filter code[CODE_MOST];
    size_t n = 0;
    code[n++] = OP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = IF(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = OP(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] = OP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_LEN(rows) - !allow_copies; i++)
        n += put_row(code + n, &rows[i]);
    code[n++] = OP(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog prog = {.len = (uint16_t)n, .filter = code};
    long r = sys6(__NR_prctl, SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
    if (!r)
        r = sys3(__NR_prctl, SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&prog);
    if (r)
        post_failed("the replay cannot be confined (seccomp: error %ld)", -r);
}
