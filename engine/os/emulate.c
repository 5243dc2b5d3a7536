/* emulate.c - instructions whose results are the engine's to see. SPDX-License-Identifier: MIT */
#include "engine/os/emulate.h"

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/os/control.h"
#include "engine/os/fpstate.h"
#include "engine/os/level.h"
#include "engine/os/maps.h"
#include "engine/os/mark.h"
#include "engine/os/signals.h"
#include "engine/os/symbol.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"
#include "engine/x86/insn.h"
#include "engine/x86/operand.h"

/* What popf and iret may change in user mode, without the trap flag. */
#define FLAGS_POPPED (0x244dd5ull & ~(uint64_t)FLAG_TF)

struct job {
    struct thread *t;
    struct insn in;
    struct insn_operands ops;
};

static void read_insn(struct thread *t, struct job *j)
{
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = maps_source.fetch(t->cpu.rip, bytes, sizeof bytes);
    j->t = t;
    if (n < sizeof bytes)
        n += maps_source.fetch(t->cpu.rip + n, bytes + n, sizeof bytes - n);
    rt_check(insn_decode(&j->in, t->cpu.rip, bytes, n) == 0);
    if (j->in.kind != INSN_ILLEGAL)
        insn_operands(&j->in, &j->ops);
}

/* Writes a general register of 16, 32 or 64 bits. */
static void set_gpr(struct thread *t, int reg, unsigned bits, uint64_t v)
{
    uint64_t *r = &t->cpu.gpr[reg];
    *r = bits == 64 ? v : bits == 32 ? (uint32_t)v : (*r & ~0xffffull) | (uint16_t)v;
}

static void set_pair(struct thread *t, uint32_t eax, uint32_t edx)
{
    t->cpu.gpr[RAX] = eax;
    t->cpu.gpr[RDX] = edx;
}

/* An instruction that this CPU lacks is the target's SIGILL, not ours. */
static bool cpu_has(uint32_t leaf, int reg, int bit)
{
    uint32_t r[4];
    __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(0));
    return r[reg] >> bit & 1;
}

static bool lacking(struct job *j)
{
    static int8_t known[3]; /* rdpid, rdrand, rdseed: 0 unasked, 1 there, -1 lacking */
    static const struct {
        uint16_t mnemonic;
        uint8_t leaf, reg, bit;
    } need[] = {{ZYDIS_MNEMONIC_RDPID, 7, 2, 22},
                {ZYDIS_MNEMONIC_RDRAND, 1, 2, 30},
                {ZYDIS_MNEMONIC_RDSEED, 7, 1, 18}};
    for (size_t i = 0; i < ARRAY_LEN(need); i++) {
        if (need[i].mnemonic != j->in.mnemonic)
            continue;
        if (!known[i])
            known[i] = cpu_has(need[i].leaf, need[i].reg, need[i].bit) ? 1 : -1;
        return known[i] < 0;
    }
    return false;
}

static bool do_rdtsc(struct job *j)
{
    uint32_t lo, hi, aux;
    spin_clock(j->t);
    if (j->t->no_tsc) {
        signals_protection_fault(j->t);
        return false;
    }
    if (j->in.mnemonic == ZYDIS_MNEMONIC_RDTSCP) {
        __asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
        j->t->cpu.gpr[RCX] = aux;
    } else {
        __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    }
    if (schedule->controlled) {
        uint64_t now = control_stamp();
        lo = (uint32_t)now;
        hi = (uint32_t)(now >> 32);
    }
    set_pair(j->t, lo, hi);
    return true;
}

static bool do_rdpid(struct job *j)
{
    uint64_t v;
    __asm__ volatile("rdpid %0" : "=r"(v));
    set_gpr(j->t, insn_gpr_number(j->ops.op[0].reg.value), 64, v);
    return true;
}

static bool do_cpuid(struct job *j)
{
    uint64_t *g = j->t->cpu.gpr;
    uint32_t leaf = (uint32_t)g[RAX], sub = (uint32_t)g[RCX], r[4];
    __asm__ volatile("cpuid"
                     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                     : "a"(leaf), "c"(sub));
    if (leaf == 7 && sub == 0)
        r[1] &= ~(1u << 4 | 1u << 11); /* transactional memory cannot be translated */
    level_hide(leaf, sub, r);
    fpstate_hide(leaf, sub, r);
    g[RAX] = r[0], g[RBX] = r[1], g[RCX] = r[2], g[RDX] = r[3];
    return true;
}

static bool do_random(struct job *j)
{
    const ZydisDecodedOperand *op = &j->ops.op[0];
    uint64_t v = 0;
    uint8_t ok;
    if (j->in.mnemonic == ZYDIS_MNEMONIC_RDRAND)
        __asm__ volatile("rdrand %0; setc %1" : "=r"(v), "=qm"(ok));
    else
        __asm__ volatile("rdseed %0; setc %1" : "=r"(v), "=qm"(ok));
    set_gpr(j->t, insn_gpr_number(op->reg.value), op->size, ok ? v : 0);
    j->t->cpu.rflags = (j->t->cpu.rflags & ~(uint64_t)FLAGS_ARITH) | (ok ? FLAG_CF : 0);
    return true;
}

/* What a descriptor says: the limit of one holds the CPU's number. */
static bool do_descriptor(struct job *j)
{
    struct thread *t = j->t;
    const ZydisDecodedOperand *to = &j->ops.op[0], *from = &j->ops.op[1];
    uint64_t v = 0;
    uint16_t selector;
    uint8_t ok;
    if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        gaddr addr = operand_address(&j->in, from, &t->cpu, engine_segments(t));
        if (!engine_read(&selector, addr, 2)) {
            signals_bad_access(t, addr, false);
            return false;
        }
    } else {
        selector = (uint16_t)t->cpu.gpr[insn_gpr_number(from->reg.value)];
    }
    if (j->in.mnemonic == ZYDIS_MNEMONIC_LSL)
        __asm__ volatile("lsl %2, %0; setz %1" : "+r"(v), "=qm"(ok) : "r"((uint64_t)selector));
    else
        __asm__ volatile("lar %2, %0; setz %1" : "+r"(v), "=qm"(ok) : "r"((uint64_t)selector));
    if (ok)
        set_gpr(t, insn_gpr_number(to->reg.value), to->size, v);
    t->cpu.rflags = (t->cpu.rflags & ~(uint64_t)FLAG_ZF) | (ok ? FLAG_ZF : 0);
    return true;
}

/* Tables of the kernel: what a kernel that hides them (UMIP) shows, and how: a register keeps its
 * upper bytes, a fault is always one of an unmapped page. */
static bool do_system_table(struct job *j)
{
    struct thread *t = j->t;
    const ZydisDecodedOperand *op = &j->ops.op[0];
    struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) table = {0, 0};
    uint64_t word = 0;
    bool is_table = true;
    switch (j->in.mnemonic) {
    case ZYDIS_MNEMONIC_SGDT:
        table.base = 0xfffffffffffe0000;
        break;
    case ZYDIS_MNEMONIC_SIDT:
        table.base = 0xffffffffffff0000;
        break;
    default:
        is_table = false;
        word = j->in.mnemonic == ZYDIS_MNEMONIC_SMSW  ? 0x80050033
               : j->in.mnemonic == ZYDIS_MNEMONIC_STR ? 0x40
                                                      : 0;
    }
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        memcpy(&t->cpu.gpr[insn_gpr_number(op->reg.value)], &word, op->size / 8);
        return true;
    }
    gaddr addr = operand_address(&j->in, op, &t->cpu, engine_segments(t));
    const void *from = is_table ? (const void *)&table : &word;
    size_t bytes = is_table ? sizeof table : 2;
    if (engine_write(addr, from, bytes) || (maps_open_all() && engine_write(addr, from, bytes)))
        return true;
    t->fault = (struct fault){
        .info = {.sig = 11, .code = 1, .field = {addr}}, .trapno = 14, .error = 6, .cr2 = addr};
    signals_deliver_fault(t);
    return false;
}

/* xgetbv(1) tells which components are in use; say what their values say. */
static bool do_xgetbv(struct job *j)
{
    uint32_t lo, hi, which = (uint32_t)j->t->cpu.gpr[RCX];
    if (which > 1) {
        signals_protection_fault(j->t);
        return false;
    }
    if (which == 0) {
        lo = (uint32_t)fpstate_visible(), hi = (uint32_t)(fpstate_visible() >> 32);
    } else {
        uint64_t bv;
        fpstate_save(j->t, fpstate_features());
        memcpy(&bv, j->t->xsave + 512, 8);
        bv |= 2; /* SSE counts as in use: MXCSR belongs to it */
        lo = (uint32_t)bv, hi = (uint32_t)(bv >> 32);
    }
    set_pair(j->t, lo, hi);
    return true;
}

static bool do_xsave(struct job *j)
{
    struct thread *t = j->t;
    gaddr addr = operand_address(&j->in, &j->ops.op[0], &t->cpu, engine_segments(t));
    uint64_t mask = (uint32_t)t->cpu.gpr[RAX] | t->cpu.gpr[RDX] << 32;
    bool compact =
        j->in.mnemonic == ZYDIS_MNEMONIC_XSAVEC || j->in.mnemonic == ZYDIS_MNEMONIC_XSAVEC64;
    if (addr & 63) {
        signals_protection_fault(t);
        return false;
    }
    if (fpstate_xsave(t, addr, mask, compact))
        return true;
    if (maps_open_all() && fpstate_xsave(t, addr, mask, compact))
        return true;
    signals_bad_access(t, addr, true);
    return false;
}

/* The last instruction and operand in the environment of fnstenv and fnsave: fpstate.h. */
static void fix_environment(uint8_t *env, bool narrow, const uint32_t before[27])
{
    uint64_t pc = fpstate_x87_pc((uint16_t)before[1], cache_from_low(before[3]));
    const uint16_t small[4] = {(uint16_t)pc};
    const uint32_t large[4] = {(uint32_t)pc, 0, 0, 0xffff0000}; /* reserved bits are ones */
    if (narrow)
        memcpy(env + 6, small, sizeof small);
    else
        memcpy(env + 12, large, sizeof large);
}

static bool do_x87_save(struct job *j)
{
    struct thread *t = j->t;
    uint8_t buf[512] __attribute__((aligned(16)));
    gaddr addr = operand_address(&j->in, &j->ops.op[0], &t->cpu, engine_segments(t));
    bool narrow = j->ops.z.operand_width == 16, save = j->in.mnemonic == ZYDIS_MNEMONIC_FNSAVE;
    size_t bytes = save ? (narrow ? 94 : 108) : narrow ? 14 : 28;
    uint32_t before[27]; /* fnsave's own form: the only one that brings everything back */
    __asm__ volatile("fnsave (%0)\n\tfrstor (%0)" : : "r"(before) : "memory");
    if (save && narrow)
        __asm__ volatile("data16 fnsave (%0)" : : "r"(buf) : "memory");
    else if (save)
        __asm__ volatile("fnsave (%0)" : : "r"(buf) : "memory");
    else if (narrow)
        __asm__ volatile("data16 fnstenv (%0)" : : "r"(buf) : "memory");
    else
        __asm__ volatile("fnstenv (%0)" : : "r"(buf) : "memory");
    fix_environment(buf, narrow, before);
    if (engine_write(addr, buf, bytes) || (maps_open_all() && engine_write(addr, buf, bytes)))
        return true;
    __asm__ volatile("frstor (%0)" : : "r"(before) : "memory");
    signals_bad_access(t, addr, true);
    return false;
}

static bool do_fxsave(struct job *j)
{
    struct thread *t = j->t;
    enum { WRITTEN = 416 }; /* the rest is left alone */
    uint8_t buf[512] __attribute__((aligned(16)));
    gaddr addr = operand_address(&j->in, &j->ops.op[0], &t->cpu, engine_segments(t));
    if (addr & 15) {
        signals_protection_fault(t);
        return false;
    }
    __asm__ volatile("fxsave64 (%0)" : : "r"(buf) : "memory");
    fpstate_fix_fxsave(buf);
    if (j->in.mnemonic == ZYDIS_MNEMONIC_FXSAVE) { /* 32-bit addresses, and their segments: none */
        memset(buf + 12, 0, 4);
        memset(buf + 20, 0, 4);
    }
    if (engine_write(addr, buf, WRITTEN) || (maps_open_all() && engine_write(addr, buf, WRITTEN)))
        return true;
    signals_bad_access(t, addr, true);
    return false;
}

static bool do_gsbase(struct job *j)
{
    const ZydisDecodedOperand *op = &j->ops.op[0];
    int reg = insn_gpr_number(op->reg.value);
    struct thread *t = j->t;
    if (j->in.mnemonic == ZYDIS_MNEMONIC_RDGSBASE) {
        set_gpr(t, reg, op->size, t->gs_base);
        return true;
    }
    t->gs_base = op->size == 64 ? t->cpu.gpr[reg] : (uint32_t)t->cpu.gpr[reg];
    return true;
}

static bool do_popf(struct job *j)
{
    struct thread *t = j->t;
    uint64_t v = 0, allowed = FLAGS_POPPED;
    size_t n = j->ops.z.operand_width == 16 ? 2 : 8;
    if (!engine_read(&v, t->cpu.gpr[RSP], n)) {
        signals_bad_access(t, t->cpu.gpr[RSP], false);
        return false;
    }
    if (n == 2)
        allowed &= 0xffff;
    t->cpu.rflags = (t->cpu.rflags & ~allowed) | (v & allowed);
    t->trap = v & FLAG_TF;
    t->cpu.gpr[RSP] += n;
    return true;
}

enum { USER_CS = 0x33, USER32_CS = 0x23, USER_SS = 0x2b };

/* Far transfers within 64-bit code: ret far, iret, jmp far through memory. */
static bool do_far(struct job *j)
{
    struct thread *t = j->t;
    uint64_t word[5] = {0}; /* rip, cs, rflags, rsp, ss */
    bool iret = j->in.mnemonic == ZYDIS_MNEMONIC_IRETQ || j->in.mnemonic == ZYDIS_MNEMONIC_IRETD;
    bool jmp = j->in.mnemonic == ZYDIS_MNEMONIC_JMP;
    size_t bytes = j->ops.z.operand_width / 8;
    gaddr at =
        jmp ? operand_address(&j->in, &j->ops.op[0], &t->cpu, engine_segments(t)) : t->cpu.gpr[RSP];
    for (int i = 0; i < (iret ? 5 : 2); i++)
        if (!engine_read(&word[i], at + (uint64_t)i * bytes, jmp && i ? 2 : bytes)) {
            signals_bad_access(t, at + (uint64_t)i * bytes, false);
            return false;
        }
    if ((uint16_t)word[1] != USER_CS || (iret && (uint16_t)word[4] != USER_SS)) {
        rt_say("far transfer to code segment 0x%x at pc 0x%lx: not supported",
               (unsigned)(uint16_t)word[1], t->cpu.rip);
        if ((uint16_t)word[1] == USER32_CS)
            signals_unsupported(t);
        else
            signals_protection_fault(t);
        return false;
    }
    t->cpu.rip = word[0] - j->in.len; /* the caller adds it */
    if (iret) {
        t->cpu.rflags = (t->cpu.rflags & ~FLAGS_POPPED) | (word[2] & FLAGS_POPPED);
        t->trap = word[2] & FLAG_TF;
        t->cpu.gpr[RSP] = word[3];
    } else if (!jmp) {
        t->cpu.gpr[RSP] += 2 * bytes + (j->ops.z.raw.imm[0].size ? j->ops.z.raw.imm[0].value.u : 0);
    }
    thread_tick(t);
    return true;
}

/* The 32-bit system call gate: as on a kernel built without it. */
static bool do_int80(struct job *j)
{
    static bool told;
    if (!told)
        rt_say("int 0x80 at pc 0x%lx: 32-bit system calls are not supported", j->t->cpu.rip);
    told = true;
    j->t->cpu.gpr[RAX] = (uint64_t)-ENOSYS;
    return true;
}

/* A hint that the thread waits for others. It is not copied: with the way here it takes as long. */
static bool do_pause(struct job *j)
{
    spin_pause(j->t);
    return true;
}

static bool do_nop(struct job *j)
{
    if (j->ops.op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
        mark_met(j->t, operand_address(&j->in, &j->ops.op[0], &j->t->cpu, engine_segments(j->t)));
    return true;
}

static const struct {
    uint16_t mnemonic;
    bool (*run)(struct job *j); /* false: a signal was raised instead */
    bool outside;               /* the result is not a function of the target's state */
} table[] = {
    {ZYDIS_MNEMONIC_RDTSC, do_rdtsc, true},        {ZYDIS_MNEMONIC_RDTSCP, do_rdtsc, true},
    {ZYDIS_MNEMONIC_RDPID, do_rdpid, true},        {ZYDIS_MNEMONIC_CPUID, do_cpuid, true},
    {ZYDIS_MNEMONIC_RDRAND, do_random, true},      {ZYDIS_MNEMONIC_RDSEED, do_random, true},
    {ZYDIS_MNEMONIC_XGETBV, do_xgetbv, true},      {ZYDIS_MNEMONIC_XSAVE, do_xsave, false},
    {ZYDIS_MNEMONIC_XSAVE64, do_xsave, false},     {ZYDIS_MNEMONIC_XSAVEC, do_xsave, false},
    {ZYDIS_MNEMONIC_XSAVEC64, do_xsave, false},    {ZYDIS_MNEMONIC_XSAVEOPT, do_xsave, false},
    {ZYDIS_MNEMONIC_XSAVEOPT64, do_xsave, false},  {ZYDIS_MNEMONIC_RDGSBASE, do_gsbase, false},
    {ZYDIS_MNEMONIC_WRGSBASE, do_gsbase, false},   {ZYDIS_MNEMONIC_POPF, do_popf, false},
    {ZYDIS_MNEMONIC_POPFQ, do_popf, false},        {ZYDIS_MNEMONIC_FNSTENV, do_x87_save, false},
    {ZYDIS_MNEMONIC_FNSAVE, do_x87_save, false},   {ZYDIS_MNEMONIC_FXSAVE, do_fxsave, false},
    {ZYDIS_MNEMONIC_FXSAVE64, do_fxsave, false},   {ZYDIS_MNEMONIC_RET, do_far, false},
    {ZYDIS_MNEMONIC_IRETQ, do_far, false},         {ZYDIS_MNEMONIC_IRETD, do_far, false},
    {ZYDIS_MNEMONIC_LSL, do_descriptor, true},     {ZYDIS_MNEMONIC_LAR, do_descriptor, true},
    {ZYDIS_MNEMONIC_SGDT, do_system_table, false}, {ZYDIS_MNEMONIC_SIDT, do_system_table, false},
    {ZYDIS_MNEMONIC_SLDT, do_system_table, false}, {ZYDIS_MNEMONIC_STR, do_system_table, false},
    {ZYDIS_MNEMONIC_SMSW, do_system_table, false}, {ZYDIS_MNEMONIC_JMP, do_far, false},
    {ZYDIS_MNEMONIC_INT, do_int80, false},         {ZYDIS_MNEMONIC_PAUSE, do_pause, false},
    {ZYDIS_MNEMONIC_NOP, do_nop, false},
};

static bool from_outside(struct job *j, bool (*run)(struct job *j))
{
    if (session && session->replay_values)
        return session->replay_values(j->t);
    if (lacking(j)) {
        signals_illegal(j->t);
        return false;
    }
    const struct cpu_state before = j->t->cpu;
    bool ok = run(j);
    if (ok && session)
        session->values(j->t, &before);
    return ok;
}

/* The usual form of `pause`, which comes by the million: without the decoder. */
static bool is_pause(gaddr pc)
{
    uint8_t b[2];
    return engine_read(b, pc, sizeof b) && b[0] == 0xf3 && b[1] == 0x90;
}

void emulate(struct thread *t)
{
    struct job j;
    if (is_pause(t->cpu.rip)) {
        spin_pause(t);
        t->cpu.rip += 2;
        return;
    }
    read_insn(t, &j);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].mnemonic == j.in.mnemonic) {
            if (table[i].outside ? from_outside(&j, table[i].run) : table[i].run(&j))
                t->cpu.rip += j.in.len;
            return;
        }
    cache_kill_range(t->cpu.rip, t->cpu.rip + 1); /* the code changed under us: look again */
}

/* Not in a replay: that has been said, and names are read from files. */
static void say_unsupported(struct thread *t)
{
    struct job j;
    char bytes[3 * INSN_MAX_BYTES + 1] = "";
    size_t n = 0;
    read_insn(t, &j);
    for (int i = 0; i < j.in.len; i++)
        n += rt_format(bytes + n, sizeof bytes - n, i ? " %02x" : "%02x", j.in.bytes[i]);
    const char *name = insn_name(&j.in);
    char where[256];
    symbol_name(t->cpu.rip, where, sizeof where);
    rt_say("instruction %s (%s) at pc 0x%lx in %s: not supported", name, bytes, t->cpu.rip, where);
}

void emulate_unsupported(struct thread *t)
{
    if (!session || !session->replay_values)
        say_unsupported(t);
    signals_unsupported(t);
}
