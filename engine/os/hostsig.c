/* hostsig.c - what the kernel calls when a signal arrives.
 *
 * SPDX-License-Identifier: MIT
 *
 * Runs on the thread's alternate stack in the runtime's range with all signals blocked, at any
 * point of translated code or of the runtime itself. So it only notes things down and turns the
 * interrupted context to a safe place; the work is done when that context goes on.
 */
#include "engine/os/hostsig.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/os/signals.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { TRAP_ALIGNMENT = 17 };

static bool within(uint64_t pc, const uint8_t *from, const uint8_t *to)
{
    return pc >= (uint64_t)from && pc < (uint64_t)to;
}

static void save_registers(struct cpu_state *c, const struct ksigcontext *m)
{
    c->gpr[RAX] = m->rax, c->gpr[RCX] = m->rcx, c->gpr[RDX] = m->rdx, c->gpr[RBX] = m->rbx;
    c->gpr[RSP] = m->rsp, c->gpr[RBP] = m->rbp, c->gpr[RSI] = m->rsi, c->gpr[RDI] = m->rdi;
    c->gpr[R8] = m->r8, c->gpr[R9] = m->r9, c->gpr[R10] = m->r10, c->gpr[R11] = m->r11;
    c->gpr[R12] = m->r12, c->gpr[R13] = m->r13, c->gpr[R14] = m->r14, c->gpr[R15] = m->r15;
    c->rflags = m->rflags & ~(uint64_t)0x10000; /* RF is the kernel's business */
}

static uint64_t flags_of_ax(uint64_t ax)
{
    uint64_t f = (ax >> 8) & (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF);
    return f | (ax & 1 ? FLAG_OF : 0);
}

/* Undo what translated code had spilled at the fault. */
static void unspill(struct thread *t, uint16_t spill)
{
    struct cpu_state *c = &t->cpu;
    if (spill & SPILL_RAX)
        c->gpr[RAX] = t->spill_rax;
    if (spill & SPILL_RCX)
        c->gpr[RCX] = t->spill_rcx;
    if (spill & SPILL_FLAGS)
        c->rflags = (c->rflags & ~(uint64_t)FLAGS_ARITH) | flags_of_ax(t->spill_flags);
    if (spill & SPILL_S0)
        c->gpr[spill >> 8 & 15] = t->spill_s0;
}

_Noreturn static void own_fault(int sig, const struct siginfo_raw *info, const struct kucontext *uc)
{
    struct thread *t = thread_self();
    rt_die("internal error: signal %d at runtime+0x%lx, address 0x%lx (thread %u, target pc 0x%lx, "
           "count %lu)",
           sig, uc->mc.rip - engine.base, info->field[0], t->number, t->cpu.rip, thread_count(t));
}

/* int3, int1 or the 3 of int 3: traps are reported behind the instruction (int1 not on all
 * machines). */
static bool is_trap_byte(uint8_t b)
{
    return b == 0xcc || b == 0xf1 || b == 0x03;
}

static void on_fault(struct thread *t, int sig, struct siginfo_raw *info, struct kucontext *uc)
{
    uint64_t host = uc->mc.rip;
    bool guarded = host == (uint64_t)engine_copy_insn || host == (uint64_t)engine_cas_insn;
    bool quick = within(host, engine_copy_quick, engine_copy_slow);
    if ((guarded || quick) && (sig == SIG_SEGV || sig == SIG_BUS)) {
        uc->mc.rip = (uint64_t)(quick ? engine_copy_slow : engine_copy_fault);
        return;
    }
    bool behind = sig == SIG_TRAP && is_trap_byte(((const uint8_t *)host)[-1]);
    if (behind)
        host--;
    const struct block *b = cache_block_at(host);
    const struct fault_point *p = b ? cache_fault_point(b, host) : NULL;
    if (!p)
        own_fault(sig, info, uc);
    save_registers(&t->cpu, &uc->mc);
    unspill(t, p->spill);
    t->left -= p->owed;
    t->cpu.rip = cache_point_pc(b, p);
    if (behind)
        t->cpu.rip += uc->mc.rip - ((uint64_t)b->host + p->host_off);
    t->step_once = (p->spill & SPILL_CHECK) && uc->mc.trapno == TRAP_ALIGNMENT;
    t->fault.info = *info;
    t->fault.trapno = uc->mc.trapno;
    t->fault.error = uc->mc.err;
    t->fault.cr2 = uc->mc.cr2;
    if (cache_contains(t->fault.info.field[0]) && sig != SIG_SEGV && sig != SIG_BUS)
        t->fault.info.field[0] = t->cpu.rip; /* si_addr of SIGILL, SIGFPE, SIGTRAP is the pc */
    uc->mc.rip = (uint64_t)engine_faulted;
    uc->mc.rsp = t->host_sp;
    uc->mc.rflags = 0x202;
}

static void on_async(struct thread *t, const struct siginfo_raw *info, struct kucontext *uc)
{
    uint64_t pc = uc->mc.rip;
    const bool carrier = info->sig == SIG_TRAP && (uint32_t)info->field[1] == SIGNALS_CARRIER;
    if (carrier && (t->pending || !__atomic_exchange_n(&t->carries, false, __ATOMIC_ACQ_REL)))
        return; /* signals_apply_mask() sends it again, behind the one that is pending */
    t->pending_info = carrier ? t->carried : *info;
    t->pending = 1;
    uc->mask = ~SIG_SYNC;
    if (pc >= (uint64_t)engine_syscall_check && pc <= (uint64_t)engine_syscall_insn) {
        uc->mc.rip = (uint64_t)engine_syscall_abort;
    } else if (cache_contains(pc) || within(pc, engine_enter, engine_enter_end)) {
        if (t->left > 0) {
            t->limit -= (uint64_t)t->left;
            t->left = 0;
        }
    }
}

void hostsig_handler(int sig, struct siginfo_raw *info, struct kucontext *uc)
{
    struct thread *t = thread_self();
    if ((SIG_SYNC & SIG_BIT(sig)) && info->code > 0)
        on_fault(t, sig, info, uc);
    else
        on_async(t, info, uc);
}

void hostsig_setup_stack(struct thread *t)
{
    struct sigstack ss = {(gaddr)t->alt_stack, 0, sizeof t->alt_stack};
    long r = sys2(__NR_sigaltstack, (long)&ss, 0);
    rt_check(r == 0);
}
