/* seccomp.c - the target's own system call filters. SPDX-License-Identifier: MIT */
#include "engine/os/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "engine/core/engine.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

struct filter {
    struct filter *older;
    uint32_t count; /* 0: strict mode */
    struct sock_filter code[];
};

/* ---- the machine ---- */

static uint32_t alu(uint16_t op, uint32_t a, uint32_t b, bool *bad)
{
    switch (op) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        *bad |= !b;
        return b ? a / b : 0;
    case BPF_AND:
        return a & b;
    case BPF_OR:
        return a | b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return b < 32 ? a << b : 0;
    case BPF_RSH:
        return b < 32 ? a >> b : 0;
    default: /* BPF_NEG */
        return -a;
    }
}

static bool jumps(uint16_t op, uint32_t a, uint32_t b)
{
    switch (op) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default: /* BPF_JSET */
        return a & b;
    }
}

/* The program was checked when it came: it cannot leave its bounds. */
static uint32_t evaluate(const struct filter *f, const struct seccomp_data *d)
{
    uint32_t a = 0, x = 0, m[BPF_MEMWORDS] = {0};
    bool bad = false;
    for (uint32_t pc = 0; pc < f->count && !bad; pc++) {
        const struct sock_filter *i = &f->code[pc];
        uint32_t k = i->k, b = BPF_SRC(i->code) == BPF_X ? x : k;
        switch (BPF_CLASS(i->code)) {
        case BPF_LD:
            if (BPF_MODE(i->code) == BPF_ABS)
                memcpy(&a, (const uint8_t *)d + k, 4);
            else
                a = BPF_MODE(i->code) == BPF_MEM   ? m[k]
                    : BPF_MODE(i->code) == BPF_LEN ? sizeof *d
                                                   : k;
            break;
        case BPF_LDX:
            x = BPF_MODE(i->code) == BPF_MEM ? m[k] : BPF_MODE(i->code) == BPF_LEN ? sizeof *d : k;
            break;
        case BPF_ST:
            m[k] = a;
            break;
        case BPF_STX:
            m[k] = x;
            break;
        case BPF_ALU:
            a = alu(BPF_OP(i->code), a, b, &bad);
            break;
        case BPF_JMP:
            pc += BPF_OP(i->code) == BPF_JA ? k : jumps(BPF_OP(i->code), a, b) ? i->jt : i->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(i->code) == BPF_A ? a : k;
        default:
            if (BPF_MISCOP(i->code) == BPF_TAX)
                x = a;
            else
                a = x;
        }
    }
    return SECCOMP_RET_KILL_THREAD;
}

/* As the kernel checks a filter: known instructions, forward jumps inside, memory in bounds. */
static bool is_valid(const struct sock_filter *code, uint32_t n)
{
    for (uint32_t pc = 0; pc < n; pc++) {
        uint16_t c = code[pc].code;
        uint32_t k = code[pc].k;
        bool ok = false;
        switch (BPF_CLASS(c)) {
        case BPF_LD:
            ok = (c == (BPF_LD | BPF_W | BPF_ABS) && k < sizeof(struct seccomp_data) && !(k & 3)) ||
                 c == (BPF_LD | BPF_W | BPF_LEN) || c == (BPF_LD | BPF_IMM) ||
                 (c == (BPF_LD | BPF_MEM) && k < BPF_MEMWORDS);
            break;
        case BPF_LDX:
            ok = c == (BPF_LDX | BPF_W | BPF_LEN) || c == (BPF_LDX | BPF_IMM) ||
                 (c == (BPF_LDX | BPF_MEM) && k < BPF_MEMWORDS);
            break;
        case BPF_ST:
        case BPF_STX:
            ok = k < BPF_MEMWORDS;
            break;
        case BPF_ALU:
            ok = BPF_OP(c) <= BPF_NEG || BPF_OP(c) == BPF_XOR;
            ok = ok && !(c == (BPF_ALU | BPF_DIV | BPF_K) && !k);
            break;
        case BPF_JMP:
            ok = BPF_OP(c) == BPF_JA ? k < n - pc - 1
                                     : BPF_OP(c) <= BPF_JSET && pc + 1u + code[pc].jt < n &&
                                           pc + 1u + code[pc].jf < n;
            break;
        case BPF_RET:
            ok = c == (BPF_RET | BPF_K) || c == (BPF_RET | BPF_A);
            break;
        default:
            ok = c == (BPF_MISC | BPF_TAX) || c == (BPF_MISC | BPF_TXA);
        }
        if (!ok)
            return false;
    }
    return BPF_CLASS(code[n - 1].code) == BPF_RET;
}

/* ---- using it ---- */

static uint32_t strict(long nr)
{
    bool ok = nr == __NR_read || nr == __NR_write || nr == __NR_exit || nr == __NR_rt_sigreturn;
    return ok ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_THREAD;
}

/* The strictest answer of the chain; of equals the newest filter's. */
static uint32_t decide(const struct thread *t, const struct seccomp_data *d)
{
    uint32_t best = SECCOMP_RET_ALLOW;
    for (const struct filter *f = t->seccomp; f; f = f->older) {
        uint32_t r = f->count ? evaluate(f, d) : strict(d->nr);
        if ((int32_t)(r & SECCOMP_RET_ACTION_FULL) < (int32_t)(best & SECCOMP_RET_ACTION_FULL))
            best = r;
    }
    return best;
}

/* SIGSYS: for a handler, or as the end. */
static void raise_sigsys(struct thread *t, const struct seccomp_data *d, uint32_t why)
{
    struct siginfo_raw info = {.sig = SIG_SYS, .err = (int32_t)(why & SECCOMP_RET_DATA), .code = 1};
    info.field[0] = d->instruction_pointer;
    info.field[1] = (uint32_t)d->nr | (uint64_t)d->arch << 32;
    t->cpu.rip = d->instruction_pointer;
    t->fault = (struct fault){.info = info, .forced = true};
    signals_deliver_fault(t);
}

static bool is_last(const struct thread *t)
{
    for (const struct thread *o = engine.threads; o; o = o->next)
        if (o != t && o->process == t->process)
            return false;
    return true;
}

bool seccomp_allows(struct thread *t, long *nr, long a[6], gaddr next, long *result)
{
    if (!t->seccomp)
        return true;
    struct seccomp_data d = {
        .nr = (int)*nr, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = next};
    memcpy(d.args, a, sizeof d.args);
    uint32_t r = decide(t, &d);
    switch (r & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return true;
    case SECCOMP_RET_ERRNO:
        r &= SECCOMP_RET_DATA;
        *result = -(long)(r < 4095 ? r : 4095);
        return false;
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF: /* nobody is told */
        *result = -ENOSYS;
        return false;
    case SECCOMP_RET_TRAP:
        raise_sigsys(t, &d, r);
        *result = SYSCALL_NO_RESULT;
        return false;
    case SECCOMP_RET_KILL_THREAD:
        if (!is_last(t)) { /* no signal */
            *nr = __NR_exit;
            a[0] = t->seccomp->count ? SIG_SYS : SIG_KILL;
            return true;
        }
        /* fall through */
    default:
        if (!t->seccomp->count) /* strict mode does not ask */
            sys2(__NR_kill, t->process->pid, SIG_KILL);
        t->process->action[SIG_SYS].handler = HANDLER_DEFAULT;
        raise_sigsys(t, &d, r);
        *result = SYSCALL_NO_RESULT;
        return false;
    }
}

/* ---- installing ---- */

static void push(struct thread *t, const struct sock_filter *code, uint32_t n)
{
    struct filter *f = range_heap(sizeof *f + n * sizeof *code);
    f->older = t->seccomp;
    f->count = n;
    memcpy(f->code, code, n * sizeof *code);
    t->seccomp = f;
}

static bool privileged(void)
{
    enum { GET_NO_NEW_PRIVS = 39 };
    return sys6(__NR_prctl, GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1 || sys0(__NR_geteuid) == 0;
}

static long set_filter(struct thread *t, uint64_t flags, gaddr prog_at)
{
    static struct sock_filter code[BPF_MAXINSNS]; /* with the baton */
    struct sock_fprog prog;
    if (flags & ~(uint64_t)(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
                            SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC_ESRCH))
        return -EINVAL; /* user notification among them */
    if (!engine_read(&prog, prog_at, sizeof prog))
        return -EFAULT;
    if (!prog.len || prog.len > BPF_MAXINSNS)
        return -EINVAL;
    if (!privileged())
        return -EACCES;
    if (!engine_read(code, (gaddr)prog.filter, prog.len * sizeof *code))
        return -EFAULT;
    if (!is_valid(code, prog.len))
        return -EINVAL;
    push(t, code, prog.len);
    for (struct thread *o = engine.threads; o && (flags & SECCOMP_FILTER_FLAG_TSYNC); o = o->next)
        o->seccomp = t->seccomp;
    return 0;
}

long seccomp_call(struct thread *t, long *a)
{
    uint32_t action;
    switch ((uint32_t)a[0]) {
    case SECCOMP_SET_MODE_STRICT:
        if (a[1] || a[2] || seccomp_mode(t) == SECCOMP_MODE_FILTER)
            return -EINVAL; /* a thread has one mode */
        push(t, NULL, 0);
        return 0;
    case SECCOMP_SET_MODE_FILTER:
        return set_filter(t, (uint64_t)a[1], (gaddr)a[2]);
    case SECCOMP_GET_ACTION_AVAIL:
        if (!engine_read(&action, (gaddr)a[2], 4))
            return -EFAULT;
        return action == SECCOMP_RET_USER_NOTIF ? -EOPNOTSUPP
                                                : sys6(__NR_seccomp, a[0], a[1], a[2], 0, 0, 0);
    default:
        return -EINVAL;
    }
}

int seccomp_mode(const struct thread *t)
{
    return !t->seccomp ? 0 : t->seccomp->count ? SECCOMP_MODE_FILTER : SECCOMP_MODE_STRICT;
}

/* ---- over an exec: counts and code, oldest filter last ---- */

size_t seccomp_packed_bytes(const struct thread *t)
{
    size_t n = 0;
    for (const struct filter *f = t->seccomp; f; f = f->older)
        n += 8 + f->count * sizeof *f->code;
    return n;
}

size_t seccomp_pack(const struct thread *t, void *out, size_t size)
{
    uint8_t *p = out;
    rt_check(seccomp_packed_bytes(t) <= size);
    for (const struct filter *f = t->seccomp; f; f = f->older) {
        memcpy(p, &(uint64_t){f->count}, 8);
        memcpy(p + 8, f->code, f->count * sizeof *f->code);
        p += 8 + f->count * sizeof *f->code;
    }
    return (size_t)(p - (uint8_t *)out);
}

void seccomp_unpack(struct thread *t, const void *bytes, size_t n)
{
    const uint8_t *p = bytes, *end = p + n;
    struct filter **at = &t->seccomp;
    while (p < end) {
        uint64_t count;
        memcpy(&count, p, 8);
        struct filter *f = range_heap(sizeof *f + count * sizeof *f->code);
        f->count = (uint32_t)count;
        memcpy(f->code, p + 8, count * sizeof *f->code);
        *at = f;
        at = &f->older;
        p += 8 + count * sizeof *f->code;
    }
}
