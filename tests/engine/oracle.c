/* oracle.c - count ticks and log every instruction of a program that runs natively, by ptrace.
 *
 * SPDX-License-Identifier: MIT
 *
 *     oracle LOG PROG ARG...
 *
 * Knows nothing of the engine: it single-steps PROG (one thread, no children), decodes what it is
 * about to execute, and applies the rules of positions:
 *  - a call, return or indirect jump ticks when it has happened; a direct jump when it is taken to
 *    an address <= its own; one that faults does not tick;
 *  - the delivery of a signal ticks, and so does sigreturn;
 *  - a REP instruction is one instruction, however often it goes round.
 * LOG is a struct summary and then one struct entry for each instruction that began, and for each
 * address without code that was jumped to. An instruction that faults and is tried again begins
 * twice. It falls through when the next to begin is the one behind it and it is no transfer there.
 */
#define _GNU_SOURCE
#include <Zydis/Zydis.h>
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is special about an entry; engine_test.py has the same names. */
enum {
    TAG_AFTER_CALL = 1 << 0, /* just after a system call */
    TAG_FAULTS = 1 << 1,
    TAG_HANDLER = 1 << 2,  /* first instruction of a signal handler */
    TAG_RETURNED = 1 << 3, /* first instruction after sigreturn */
    TAG_REP = 1 << 4,
    TAG_COUNTED = 1 << 5, /* loop, jrcxz and their kin */
    TAG_NO_CODE = 1 << 6, /* nothing to execute here: a position, but no instruction begins */
};

struct summary {
    uint64_t ticks, instructions, fell_through, syscalls;
};

struct entry {
    uint64_t count, pc, reg[16], rflags, tags;
};

enum { TRAP_FLAG = 0x100, SIGRETURN = 15 };

static ZydisDecoder decoder;
static FILE *out;
static struct summary sum;
static struct entry last; /* not yet written: a signal may come before it begins */
static bool have_last;
static pid_t pid;

static struct user_regs_struct registers(void)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
        err(2, "PTRACE_GETREGS");
    return r;
}

static void flush(void)
{
    if (have_last && fwrite(&last, sizeof last, 1, out) != 1)
        err(2, "log");
    have_last = false;
}

static void note(const struct user_regs_struct *r, uint64_t tags)
{
    flush();
    last = (struct entry){
        .count = sum.ticks,
        .pc = r->rip,
        .reg = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi, r->r8, r->r9,
                r->r10, r->r11, r->r12, r->r13, r->r14, r->r15},
        .rflags = r->eflags,
        .tags = tags,
    };
    have_last = true;
}

/* False when there is no code at pc, or none that the CPU has. */
static bool decode(uint64_t pc, ZydisDecodedInstruction *z)
{
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    size_t first = 4096 - pc % 4096, n = sizeof bytes;
    struct iovec local = {bytes, n};
    struct iovec remote[2] = {{(void *)pc, n < first ? n : first}, {(void *)(pc + first), 0}};
    if (n > first)
        remote[1].iov_len = n - first;
    ssize_t got = process_vm_readv(pid, &local, 1, remote, 2, 0);
    return got > 0 &&
           ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, (size_t)got, z));
}

static bool is_rep(const ZydisDecodedInstruction *z)
{
    return z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static bool is_counted(const ZydisDecodedInstruction *z)
{
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
        return true;
    default:
        return false;
    }
}

/* Does z at `pc`, which has led to `next`, tick? */
static bool ticks(const ZydisDecodedInstruction *z, uint64_t pc, uint64_t next, uint64_t rax)
{
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
        return true;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return !z->raw.imm[0].is_relative || next <= pc;
    case ZYDIS_CATEGORY_COND_BR:
        return next <= pc;
    case ZYDIS_CATEGORY_SYSCALL:
        return rax == SIGRETURN;
    default:
        return false;
    }
}

/* Is direct jump z taken, given that it leads to the next instruction? Only the flags can tell. */
static bool jumps_to_next(const ZydisDecodedInstruction *z, uint64_t eflags)
{
    bool cf = eflags & 1, pf = eflags & 4, zf = eflags & 0x40, sf = eflags & 0x80,
         of = eflags & 0x800;
    const bool condition[] = {of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of};
    if (z->raw.imm[0].value.s != 0 || z->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        return z->raw.imm[0].value.s == 0;
    if (is_counted(z))
        errx(2, "a loop to the next instruction: taken or not?");
    return condition[z->opcode >> 1 & 7] != (z->opcode & 1);
}

/* Does z, which has not ticked and led to the next instruction, fall through to it? */
static bool falls_through(const ZydisDecodedInstruction *z, uint64_t eflags)
{
    return !z->raw.imm[0].is_relative || !jumps_to_next(z, eflags);
}

/* The trap flag that drives this must not show in what the program sees of its flags. */
static void hide_trap_flag(const ZydisDecodedInstruction *z, struct user_regs_struct *r)
{
    if (z->mnemonic == ZYDIS_MNEMONIC_SYSCALL && (r->r11 & TRAP_FLAG)) {
        r->r11 &= ~(uint64_t)TRAP_FLAG;
        ptrace(PTRACE_SETREGS, pid, NULL, r);
    }
    if (z->mnemonic == ZYDIS_MNEMONIC_PUSHFQ) {
        long word = ptrace(PTRACE_PEEKDATA, pid, r->rsp, NULL);
        ptrace(PTRACE_POKEDATA, pid, r->rsp, word & ~(long)TRAP_FLAG);
    }
}

/* One step, with a signal or 0. Returns the signal it stopped with, or ends with the program. */
static int step(int sig)
{
    int status;
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, sig) < 0 || waitpid(pid, &status, 0) < 0)
        err(2, "step");
    if (WIFSTOPPED(status))
        return WSTOPSIG(status);
    flush();
    rewind(out);
    if (fwrite(&sum, sizeof sum, 1, out) != 1 || fclose(out))
        err(2, "log");
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static bool is_fault(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP;
}

/* The program is stopped with `sig`, to be delivered: steps into its handler. */
static void deliver(int sig)
{
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) < 0)
        err(2, "PTRACE_GETSIGINFO");
    if (sig == SIGSEGV && (uint64_t)info.si_addr == last.pc) {
        last.tags |= TAG_NO_CODE;
        sum.instructions--;
    } else if (is_fault(sig)) {
        last.tags |= TAG_FAULTS;
    } else { /* it comes between two instructions: the second has not begun */
        have_last = false;
        sum.instructions--;
        sum.fell_through--;
    }
    if (step(sig) != SIGTRAP)
        errx(2, "signal %d: no stop at its handler", sig);
    sum.ticks++;
}

/* Executes the instruction at r. Returns the tags of the next one. */
static uint64_t run_one(const struct user_regs_struct *before, const ZydisDecodedInstruction *z,
                        bool readable)
{
    for (;;) {
        int sig = step(0);
        struct user_regs_struct r = registers();
        bool breakpoint = readable && z->mnemonic == ZYDIS_MNEMONIC_INT3;
        if (sig != SIGTRAP || breakpoint) {
            deliver(sig);
            return TAG_HANDLER;
        }
        if (readable && is_rep(z) && r.rip == before->rip)
            continue;
        if (!readable)
            errx(2, "code at %llx could not be read, yet it ran", (unsigned long long)r.rip);
        hide_trap_flag(z, &r);
        bool tick = ticks(z, before->rip, r.rip, before->rax);
        sum.ticks += tick;
        sum.fell_through +=
            !tick && r.rip == before->rip + z->length && falls_through(z, before->eflags);
        if (z->meta.category != ZYDIS_CATEGORY_SYSCALL)
            return 0;
        return before->rax == SIGRETURN ? TAG_RETURNED : TAG_AFTER_CALL;
    }
}

static void trace(void)
{
    uint64_t tags = 0;
    for (;;) {
        ZydisDecodedInstruction z;
        struct user_regs_struct r = registers();
        bool readable = decode(r.rip, &z);
        if (readable && is_rep(&z))
            tags |= TAG_REP;
        if (readable && is_counted(&z))
            tags |= TAG_COUNTED;
        note(&r, tags);
        sum.instructions++;
        sum.syscalls += readable && z.meta.category == ZYDIS_CATEGORY_SYSCALL;
        tags = run_one(&r, &z, readable);
    }
}

int main(int argc, char *argv[])
{
    int status;
    if (argc < 3)
        errx(2, "usage: oracle LOG PROG ARG...");
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[2], argv + 2);
        err(127, "%s", argv[2]);
    }
    out = fopen(argv[1], "we");
    if (!out || fwrite(&sum, sizeof sum, 1, out) != 1)
        err(2, "%s", argv[1]);
    if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
        errx(2, "%s did not start", argv[2]);
    trace();
}
