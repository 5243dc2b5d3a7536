/* signals.c - the target's signals. SPDX-License-Identifier: MIT */
#include "engine/os/signals.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/os/fpstate.h"
#include "engine/os/hostsig.h"
#include "engine/os/maps.h"
#include "engine/os/sending.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

#define UC_FP_XSTATE         0x1
#define UC_SIGCONTEXT_SS     0x2
#define UC_STRICT_RESTORE_SS 0x4
#define FP_MAGIC1            0x46505853u
#define FP_MAGIC2            0x46505845u
#define USER_CS              0x33
#define USER_SS              0x2b
/* CF PF AF ZF SF TF DF OF NT RF AC ID: what sigreturn may set; the rest stays */
#define FLAGS_USER           0x254dd5ull

enum { AT_SW_RESERVED = 464 };

/* ---- what the kernel is told ---- */

uint64_t signals_ours(void)
{
    return SIG_SYNC | engine.guest_signals;
}

void signals_set_kernel_mask(uint64_t mask)
{
    mask = (mask | engine.guest_signals) & ~SIG_SYNC;
    if (session && session->replaying)
        return;
    sys4(__NR_rt_sigprocmask, 2, (long)&mask, 0, 8);
}

uint64_t signals_block_all(void)
{
    uint64_t all = ~0ull, old = 0;
    sys4(__NR_rt_sigprocmask, 2, (long)&all, (long)&old, 8);
    return old;
}

static void send_carrier(const struct thread *to)
{
    struct siginfo_raw carrier = {.sig = SIG_TRAP, .code = -1};
    carrier.field[1] = SIGNALS_CARRIER;
    sys4(__NR_rt_tgsigqueueinfo, to->process->pid, to->tid, SIG_TRAP, (long)&carrier);
}

void signals_apply_mask(struct thread *t)
{
    if (t->carries && !t->pending)
        send_carrier(t);
    if (sending_waiting(t) & ~t->mask)
        sending_release(t);
    signals_set_kernel_mask(t->pending ? ~0ull : t->mask);
}

/* CHLD CONT STOP TSTP TTIN TTOU URG WINCH: the default action does not end the process. */
static bool harmless(int sig)
{
    const uint64_t set = SIG_BIT(17) | SIG_BIT(18) | SIG_BIT(19) | SIG_BIT(20) | SIG_BIT(21) |
                         SIG_BIT(22) | SIG_BIT(23) | SIG_BIT(28);
    return set & SIG_BIT(sig);
}

/* Does the kernel take the signal by itself, or the host handler? A recording has to see the
 * signals that end the process, too. */
static bool left_to_kernel(int sig, const struct ksigaction *a)
{
    if (a->handler > HANDLER_IGNORE || (signals_ours() & SIG_BIT(sig)) || sig == SIG_KILL)
        return false;
    return a->handler == HANDLER_IGNORE || !session || harmless(sig);
}

static long tell_kernel(int sig, const struct ksigaction *a)
{
    if (session && session->replaying)
        return 0;
    struct ksigaction k = {(gaddr)hostsig_handler,
                           SA_SIGINFO_ | SA_ONSTACK_ | SA_RESTORER_ |
                               (a->flags & (SA_RESTART_ | SA_NOCLDSTOP_ | SA_NOCLDWAIT_)),
                           (gaddr)engine_restorer, ~0ull};
    if (left_to_kernel(sig, a)) {
        k = *a;
        k.flags |= SA_RESTORER_;
        k.restorer = (gaddr)engine_restorer;
    }
    return sys4(__NR_rt_sigaction, sig, (long)&k, 0, 8);
}

void signals_init(struct thread *t, uint64_t mask)
{
    for (int sig = 1; sig <= SIG_MAX; sig++) {
        struct ksigaction *a = &t->process->action[sig];
        sys4(__NR_rt_sigaction, sig, 0, (long)a, 8);
        a->flags &= ~SA_RESTORER_;
        a->restorer = 0;
        if (!left_to_kernel(sig, a) && sig != SIG_KILL)
            tell_kernel(sig, a);
    }
    t->mask = mask & ~(SIG_BIT(SIG_KILL) | SIG_BIT(SIG_STOP));
    t->altstack.flags = SS_DISABLE_;
    signals_apply_mask(t);
}

void signals_forget_handlers(struct process *p)
{
    for (int sig = 1; sig <= SIG_MAX; sig++) {
        bool ignored = p->action[sig].handler == HANDLER_IGNORE;
        p->action[sig] = (struct ksigaction){.handler = ignored ? HANDLER_IGNORE : HANDLER_DEFAULT};
    }
}

void signals_tell_kernel(const struct thread *t)
{
    for (int sig = 1; sig <= SIG_MAX; sig++)
        if (sig != SIG_KILL && sig != SIG_STOP)
            tell_kernel(sig, &t->process->action[sig]);
}

void signals_host_handlers(void)
{
    struct ksigaction k = {(gaddr)hostsig_handler, SA_SIGINFO_ | SA_ONSTACK_ | SA_RESTORER_,
                           (gaddr)engine_restorer, ~0ull};
    uint64_t none = 0;
    for (int sig = 1; sig <= SIG_MAX; sig++)
        if (SIG_SYNC & SIG_BIT(sig))
            sys4(__NR_rt_sigaction, sig, (long)&k, 0, 8);
    sys4(__NR_rt_sigprocmask, 2, (long)&none, 0, 8);
}

void signals_prepare_exec(struct thread *t)
{
    for (int sig = 1; sig <= SIG_MAX; sig++)
        if ((SIG_SYNC & SIG_BIT(sig)) && t->process->action[sig].handler == HANDLER_IGNORE)
            sys4(__NR_rt_sigaction, sig, (long)&t->process->action[sig], 0, 8);
}

void signals_abandon_exec(struct thread *t)
{
    for (int sig = 1; sig <= SIG_MAX; sig++)
        if (SIG_SYNC & SIG_BIT(sig))
            tell_kernel(sig, &t->process->action[sig]);
}

/* By a signal that the kernel never holds back, whose handler is always ours (hostsig.c). */
void signals_carry(struct thread *to, const struct siginfo_raw *info)
{
    to->carried = *info;
    __atomic_store_n(&to->carries, true, __ATOMIC_RELEASE);
    send_carrier(to);
}

/* ---- dying ---- */

void signals_use_default(int sig)
{
    struct ksigaction dfl = {0, SA_RESTORER_, (gaddr)engine_restorer, 0};
    sys4(__NR_rt_sigaction, sig, (long)&dfl, 0, 8);
}

void signals_end(struct thread *t, int sig)
{
    if (threads_is_side(t)) {
        threads_leave(t);
        return;
    }
    if (session)
        session->end(t, SESSION_SIGNAL, sig);
    syscalls_finish();
}

/* The default action of an asynchronous signal that reached us all the same. */
static void default_action(struct thread *t, int sig)
{
    uint64_t open = ~SIG_BIT(sig);
    t->pending = 0;
    if (!harmless(sig))
        signals_end(t, sig);
    signals_use_default(sig);
    sys3(__NR_tgkill, t->process->pid, t->tid, sig);
    sys4(__NR_rt_sigprocmask, 2, (long)&open, 0, 8); /* here it dies, or stops and goes on */
    tell_kernel(sig, &t->process->action[sig]);
    signals_apply_mask(t);
}

/* A fault that no handler takes: the target's own instruction repeats it natively, so that status,
 * core file and si_addr are the native ones. */
_Noreturn static void die_of_fault(struct thread *t)
{
    uint64_t open = ~SIG_SYNC;
    int sig = t->fault.info.sig;
    if (t->fault.forced)
        default_action(t, sig);
    signals_end(t, sig);
    for (int s = 1; s <= SIG_MAX; s++)
        if (SIG_SYNC & SIG_BIT(s))
            signals_use_default(s);
    if (sig == SIG_TRAP)
        t->cpu.rip--;
    sys4(__NR_rt_sigprocmask, 2, (long)&open, 0, 8);
    engine_native(&t->cpu);
}

bool signals_fatal(const struct thread *t, int sig)
{
    return sig >= 1 && sig <= SIG_MAX && !harmless(sig) &&
           t->process->action[sig].handler == HANDLER_DEFAULT;
}

/* ---- frames ---- */

static bool on_altstack(const struct thread *t, gaddr sp)
{
    const struct sigstack *s = &t->altstack;
    if (s->flags & (SS_DISABLE_ | SS_AUTODISARM_))
        return false;
    return sp > s->sp && sp - s->sp <= s->size;
}

static void fill_context(const struct thread *t, struct ksigcontext *m, const struct fault *f)
{
    const struct cpu_state *c = &t->cpu;
    m->rax = c->gpr[RAX], m->rcx = c->gpr[RCX], m->rdx = c->gpr[RDX], m->rbx = c->gpr[RBX];
    m->rsp = c->gpr[RSP], m->rbp = c->gpr[RBP], m->rsi = c->gpr[RSI], m->rdi = c->gpr[RDI];
    m->r8 = c->gpr[R8], m->r9 = c->gpr[R9], m->r10 = c->gpr[R10], m->r11 = c->gpr[R11];
    m->r12 = c->gpr[R12], m->r13 = c->gpr[R13], m->r14 = c->gpr[R14], m->r15 = c->gpr[R15];
    m->rip = c->rip;
    m->rflags = c->rflags | (t->trap ? FLAG_TF : 0);
    if (f && f->trapno != 3 && f->trapno != 1)
        m->rflags |= 0x10000; /* the CPU pushes RF at faults */
    m->cs = USER_CS;
    m->ss = USER_SS;
    if (f) {
        m->err = f->error;
        m->trapno = f->trapno;
        m->cr2 = f->cr2;
    }
}

/* Writes the extended state and its software header to fp. */
static bool write_fpstate(struct thread *t, gaddr fp)
{
    uint64_t bytes = fpstate_bytes(), features = fpstate_features(), all = fpstate_visible();
    fpstate_save(t, features);
    if (features) {
        /* All components count as in use, so that a handler's changes to any of them are taken. */
        memcpy(t->xsave + 512, &all, 8);
        uint32_t sw[12] = {FP_MAGIC1, (uint32_t)bytes + 4, (uint32_t)features,
                           (uint32_t)(features >> 32), (uint32_t)bytes};
        memcpy(t->xsave + AT_SW_RESERVED, sw, sizeof sw);
    }
    return engine_write(fp, t->xsave, bytes) &&
           (!features || engine_write(fp + bytes, &(uint32_t){FP_MAGIC2}, 4));
}

static bool push_frame(struct thread *t, const struct siginfo_raw *info, const struct fault *f,
                       uint64_t saved_mask)
{
    const struct ksigaction *a = &t->process->action[info->sig];
    struct ksigframe frame = {0};
    gaddr sp = t->cpu.gpr[RSP] - 128;
    bool switched = (a->flags & SA_ONSTACK_) && !(t->altstack.flags & SS_DISABLE_) &&
                    !on_altstack(t, t->cpu.gpr[RSP]) && t->altstack.size;
    if (switched)
        sp = t->altstack.sp + t->altstack.size;
    gaddr fp = (sp - fpstate_bytes() - (fpstate_features() ? 4 : 0)) & ~63ull;
    sp = ((fp - sizeof frame) & ~15ull) - 8;
    if ((switched || on_altstack(t, t->cpu.gpr[RSP])) && sp < t->altstack.sp)
        return false;
    frame.return_address = a->restorer;
    frame.uc.flags =
        (fpstate_features() ? UC_FP_XSTATE : 0) | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
    frame.uc.stack = t->altstack;
    if (on_altstack(t, t->cpu.gpr[RSP]))
        frame.uc.stack.flags |= SS_ONSTACK_;
    fill_context(t, &frame.uc.mc, f);
    frame.uc.mc.fpstate = fp;
    frame.uc.mc.oldmask = saved_mask;
    frame.uc.mask = saved_mask;
    frame.info = *info;
    if (!write_fpstate(t, fp) || !engine_write(sp, &frame, sizeof frame))
        return false;
    if (t->altstack.flags & SS_AUTODISARM_)
        t->altstack = (struct sigstack){0, SS_DISABLE_, 0};
    t->cpu.gpr[RSP] = sp;
    t->cpu.gpr[RSI] = sp + offsetof(struct ksigframe, info);
    t->cpu.gpr[RDX] = sp + offsetof(struct ksigframe, uc);
    return true;
}

/* A frame that cannot be written or read. */
static void force_segv(struct thread *t)
{
    t->fault =
        (struct fault){.info = {.sig = SIG_SEGV, .code = 0x80}, .trapno = 13, .forced = true};
    signals_deliver_fault(t);
}

static void deliver(struct thread *t, const struct siginfo_raw *info, const struct fault *f)
{
    struct ksigaction *a = &t->process->action[info->sig];
    if (session && !f && session->signal)
        session->signal(t, info);
    uint64_t base = t->has_wait_mask ? t->wait_mask : t->mask;
    if (!push_frame(t, info, f, t->mask)) {
        t->has_wait_mask = false;
        if (info->sig == SIG_SEGV)
            a->handler = HANDLER_DEFAULT;
        t->pending = 0;
        force_segv(t);
        return;
    }
    t->has_wait_mask = false;
    t->cpu.gpr[RDI] = (uint64_t)info->sig;
    t->cpu.gpr[RAX] = 0;
    if (instrument && instrument->signal)
        instrument->signal(t, info->sig, a->handler);
    t->cpu.rip = a->handler;
    t->cpu.rflags &= ~(uint64_t)(FLAG_DF | 0x10000);
    t->trap = t->trap_armed = false;
    t->mask = base | a->mask | (a->flags & SA_NODEFER_ ? 0 : SIG_BIT(info->sig));
    t->mask &= ~(SIG_BIT(SIG_KILL) | SIG_BIT(SIG_STOP));
    if (a->flags & SA_RESETHAND_) {
        a->handler = HANDLER_DEFAULT;
        tell_kernel(info->sig, a);
    }
    fpstate_reset(t);
    thread_tick(t);
}

void signals_deliver(struct thread *t, const struct siginfo_raw *info)
{
    deliver(t, info, NULL);
}

/* Blocked by the target, though not by us: it waits until that ends. */
static bool is_held_back(struct thread *t, const struct siginfo_raw *info)
{
    const uint64_t mask = t->has_wait_mask ? t->wait_mask : t->mask;
    const bool held = signals_ours() & mask & SIG_BIT(info->sig);
    if (held)
        sending_hold(t, info);
    return held;
}

void signals_deliver_pending(struct thread *t)
{
    struct siginfo_raw info = t->pending_info;
    const struct ksigaction *a = &t->process->action[info.sig];
    sending_passed_on(t, info.sig, &info);
    if (is_held_back(t, &info) || (session && session->arrives && !session->arrives(t, &info))) {
        t->pending = 0;
        signals_apply_mask(t);
        return;
    }
    a = &t->process->action[info.sig]; /* a debugger may have another one delivered */
    if (a->handler == HANDLER_DEFAULT) {
        default_action(t, info.sig);
        return;
    }
    t->pending = 0;
    if (a->handler != HANDLER_IGNORE)
        deliver(t, &info, NULL);
    signals_apply_mask(t);
}

void signals_deliver_fault(struct thread *t)
{
    if (session && session->arrives && !session->arrives(t, &t->fault.info))
        return;
    if (session)
        session->fault(t);
    int sig = t->fault.info.sig;
    const struct ksigaction *a = &t->process->action[sig];
    if (a->handler <= HANDLER_IGNORE || (t->mask & SIG_BIT(sig)))
        die_of_fault(t);
    deliver(t, &t->fault.info, &t->fault);
    signals_apply_mask(t);
}

void signals_protection_fault(struct thread *t)
{
    t->fault = (struct fault){.info = {.sig = SIG_SEGV, .code = 0x80}, .trapno = 13};
    signals_deliver_fault(t);
}

void signals_stack_fault(struct thread *t)
{
    t->fault = (struct fault){.info = {.sig = SIG_BUS, .code = 0x80}, .trapno = 12};
    signals_deliver_fault(t);
}

void signals_misaligned(struct thread *t)
{
    t->fault = (struct fault){.info = {.sig = SIG_BUS, .code = 1}, .trapno = 17};
    signals_deliver_fault(t);
}

void signals_single_step(struct thread *t)
{
    t->fault = (struct fault){
        .info = {.sig = SIG_TRAP, .code = 2, .field = {t->cpu.rip}}, .trapno = 1, .forced = true};
    signals_deliver_fault(t);
}

static bool is_mapped(gaddr addr)
{
    uint8_t in_core;
    return sys3(__NR_mincore, (long)PAGE_DOWN(addr), 1, (long)&in_core) == 0;
}

void signals_fetch_fault(struct thread *t, gaddr addr)
{
    bool mapped = is_mapped(addr);
    bool kernels = addr >= MAPS_USER_TOP; /* the kernel does not tell what it has there */
    t->fault = (struct fault){.info = {.sig = SIG_SEGV, .code = mapped ? 2 : 1, .field = {addr}},
                              .trapno = 14,
                              .error = mapped || kernels ? 0x15 : 0x14,
                              .cr2 = addr};
    if (mapped && maps_exec(addr)) { /* executable, but the file has ended */
        t->fault.info.sig = SIG_BUS;
        t->fault.error = 0x14;
    }
    signals_deliver_fault(t);
}

void signals_unsupported(struct thread *t)
{
    t->fault = (struct fault){
        .info = {.sig = SIG_ILL, .code = 2, .field = {t->cpu.rip}}, .trapno = 6, .forced = true};
    signals_deliver_fault(t);
}

void signals_illegal(struct thread *t)
{
    t->fault =
        (struct fault){.info = {.sig = SIG_ILL, .code = 2, .field = {t->cpu.rip}}, .trapno = 6};
    signals_deliver_fault(t);
}

void signals_bad_access(struct thread *t, gaddr addr, bool write)
{
    if ((int64_t)(addr << 16) >> 16 != (int64_t)addr) { /* not canonical: no page is asked */
        signals_protection_fault(t);
        return;
    }
    bool mapped = is_mapped(addr);
    t->fault = (struct fault){.info = {.sig = SIG_SEGV, .code = mapped ? 2 : 1, .field = {addr}},
                              .trapno = 14,
                              .error = 4u | (mapped ? 1 : 0) | (write ? 2 : 0),
                              .cr2 = addr};
    signals_deliver_fault(t);
}

/* ---- system calls ---- */

long signals_sigaction(struct thread *t, long *a)
{
    int sig = (int)a[0];
    struct ksigaction new, old;
    if (a[3] != 8 || sig < 1 || sig > SIG_MAX)
        return -EINVAL;
    old = t->process->action[sig];
    if (a[1]) {
        if (!engine_read(&new, (gaddr)a[1], sizeof new))
            return -EFAULT;
        if (sig == SIG_KILL || sig == SIG_STOP)
            return -EINVAL;
        new.mask &= ~(SIG_BIT(SIG_KILL) | SIG_BIT(SIG_STOP));
        t->process->action[sig] = new;
        long r = tell_kernel(sig, &new);
        if (r < 0)
            return r;
    }
    if (a[2] && !engine_write((gaddr)a[2], &old, sizeof old))
        return -EFAULT;
    return 0;
}

long signals_sigprocmask(struct thread *t, long *a)
{
    uint64_t set, old = t->mask;
    if (a[3] != 8)
        return -EINVAL;
    if (a[1]) {
        if (!engine_read(&set, (gaddr)a[1], 8))
            return -EFAULT;
        set &= ~(SIG_BIT(SIG_KILL) | SIG_BIT(SIG_STOP));
        switch ((int)a[0]) {
        case 0:
            t->mask |= set;
            break;
        case 1:
            t->mask &= ~set;
            break;
        case 2:
            t->mask = set;
            break;
        default:
            return -EINVAL;
        }
        signals_apply_mask(t);
    }
    if (a[2] && !engine_write((gaddr)a[2], &old, 8))
        return -EFAULT;
    return 0;
}

/* One that was sent and is held back here is pending all the same. */
long signals_sigpending(struct thread *t, long *a)
{
    long r = syscalls_pass(t, __NR_rt_sigpending, a);
    uint64_t set;
    if (r < 0 || !sending_waiting(t) || a[1] != 8 || !engine_read(&set, (gaddr)a[0], 8))
        return r;
    set |= sending_waiting(t) & t->mask;
    return engine_write((gaddr)a[0], &set, 8) ? r : -EFAULT;
}

long signals_sigtimedwait(struct thread *t, long *a)
{
    uint64_t set = 0;
    struct siginfo_raw info;
    if (a[3] == 8 && engine_read(&set, (gaddr)a[0], 8) && sending_take(t, set, &info))
        return !a[1] || engine_write((gaddr)a[1], &info, sizeof info) ? info.sig : -EFAULT;
    t->wait_set = set;
    long r = syscalls_pass(t, __NR_rt_sigtimedwait, a);
    t->wait_set = 0;
    if (r > 0 && sending_passed_on(t, (int)r, &info) && a[1] &&
        !engine_write((gaddr)a[1], &info, sizeof info))
        return -EFAULT;
    return r;
}

long signals_sigaltstack(struct thread *t, long *a)
{
    struct sigstack new, old = t->altstack;
    bool on = on_altstack(t, t->cpu.gpr[RSP]);
    if (on)
        old.flags |= SS_ONSTACK_;
    if (a[0]) {
        if (!engine_read(&new, (gaddr)a[0], sizeof new))
            return -EFAULT;
        int mode = new.flags & ~SS_AUTODISARM_;
        if (on)
            return -EPERM;
        if (mode != SS_DISABLE_ && mode != SS_ONSTACK_ && mode != 0)
            return -EINVAL;
        if (mode == SS_DISABLE_)
            new.sp = new.size = 0;
        else if (new.size < 2048)
            return -ENOMEM;
        new.flags = mode == SS_ONSTACK_ ? new.flags &SS_AUTODISARM_ : new.flags;
        t->altstack = new;
    }
    if (a[1] && !engine_write((gaddr)a[1], &old, sizeof old))
        return -EFAULT;
    return 0;
}

/* Reads the extended state of a frame into the registers. */
static bool restore_fpstate(struct thread *t, gaddr fp)
{
    uint32_t sw[12] = {0}, magic2 = 0;
    uint64_t features = fpstate_features();
    if (!fp) {
        fpstate_reset(t);
        return true;
    }
    if (fp & 15 || !engine_read(t->xsave, fp, 512))
        return false;
    memcpy(sw, t->xsave + AT_SW_RESERVED, sizeof sw);
    uint64_t bytes = sw[4], wanted = sw[2] | (uint64_t)sw[3] << 32;
    bool extended = features && sw[0] == FP_MAGIC1 && bytes >= 576 && bytes <= fpstate_bytes() &&
                    engine_read(&magic2, fp + bytes, 4) && magic2 == FP_MAGIC2;
    memset(t->xsave + 512, 0, 64);
    if (!extended) { /* legacy only: the rest goes to its reset state */
        memcpy(t->xsave + 512, &(uint64_t){3}, 8);
        fpstate_load(t, features);
        return true;
    }
    if (!engine_read(t->xsave + 512, fp + 512, bytes - 512))
        return false;
    uint64_t bv;
    memcpy(&bv, t->xsave + 512, 8);
    bv &= wanted;
    memcpy(t->xsave + 512, &bv, 8);
    fpstate_load(t, features);
    return true;
}

long signals_sigreturn(struct thread *t, long *unused)
{
    struct ksigframe frame;
    (void)unused;
    if (!engine_read(&frame, t->cpu.gpr[RSP] - 8, sizeof frame) ||
        !restore_fpstate(t, frame.uc.mc.fpstate)) {
        force_segv(t);
        return SYSCALL_NO_RESULT;
    }
    const struct ksigcontext *m = &frame.uc.mc;
    struct cpu_state *c = &t->cpu;
    c->gpr[RAX] = m->rax, c->gpr[RCX] = m->rcx, c->gpr[RDX] = m->rdx, c->gpr[RBX] = m->rbx;
    c->gpr[RSP] = m->rsp, c->gpr[RBP] = m->rbp, c->gpr[RSI] = m->rsi, c->gpr[RDI] = m->rdi;
    c->gpr[R8] = m->r8, c->gpr[R9] = m->r9, c->gpr[R10] = m->r10, c->gpr[R11] = m->r11;
    c->gpr[R12] = m->r12, c->gpr[R13] = m->r13, c->gpr[R14] = m->r14, c->gpr[R15] = m->r15;
    c->rip = m->rip;
    c->rflags =
        (c->rflags & ~FLAGS_USER) | (m->rflags & FLAGS_USER & ~(uint64_t)(FLAG_TF | 0x10000));
    t->trap = m->rflags & FLAG_TF;
    t->trap_armed = false;
    t->mask = frame.uc.mask & ~(SIG_BIT(SIG_KILL) | SIG_BIT(SIG_STOP));
    frame.uc.stack.flags &= ~SS_ONSTACK_;
    if (!on_altstack(t, c->gpr[RSP]))
        t->altstack = frame.uc.stack;
    signals_apply_mask(t);
    thread_tick(t);
    return SYSCALL_NO_RESULT;
}
