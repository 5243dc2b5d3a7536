/* sandbox.c - memory, machine state and faults of one random sequence.
 *
 * While a sequence runs the FS base is the sandbox's, so nothing between the two arch_prctl calls
 * of sandbox_run(), the signal handler included, may touch libc or thread-local storage; this file
 * is built without the stack protector.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

_Static_assert(offsetof(struct machine, flags) == M_FLAGS, "layout.h");
_Static_assert(offsetof(struct machine, k) == M_K, "layout.h");
_Static_assert(offsetof(struct machine, fx) == M_FX, "layout.h");
_Static_assert(offsetof(struct machine, zmm) == M_ZMM, "layout.h");

#define TRAMPOLINES(kind)                                                                          \
    void insn_enter_##kind(void);                                                                  \
    void insn_exit_##kind(void)
TRAMPOLINES(sse);
TRAMPOLINES(avx);
TRAMPOLINES(avx512);
void insn_on_signal(int signo, siginfo_t *info, void *context);
void insn_record_fault(int signo, siginfo_t *info, void *context);

enum { XCOMP_AVX = 2, XCOMP_OPMASK = 5, XCOMP_ZMM_HI256 = 6, XCOMP_HI16_ZMM = 7, XCOMPS };

static const uint64_t area_base[AREA_COUNT] = {CODE_LOW, CODE_FAR, CODE_ALIAS, CODE_RWX};
static uint8_t *alias_rw; /* the writable view of CODE_ALIAS */
static const struct cpu *sandbox_cpu;
static void (*enter)(void);
static uint64_t exit_addr;
static uint32_t xcomp_offset[XCOMPS]; /* in the standard XSAVE format, which signal frames use */
static volatile bool inside;
static struct fault last_fault, past_fault[SANDBOX_RESUMES];
static unsigned past_count;
static const struct resume *resume_at;

static void copy_bytes(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static void zero_bytes(void *to, size_t size)
{
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
}

static long raw_arch_prctl(int code, uint64_t addr)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_arch_prctl), "D"((long)code), "S"(addr)
                     : "rcx", "r11", "memory");
    return result;
}

static void *map_at(uint64_t base, size_t size, int prot, int fd)
{
    int flags = MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void *got = mmap((void *)base, size, prot, flags, fd, 0);
    if (got != (void *)base) {
        fprintf(stderr, "insndiff: sandbox at %#lx: %s\n", base, strerror(errno));
        return NULL;
    }
    return got;
}

static int map_data(uint64_t base)
{
    if (!map_at(base, DATA_SIZE, PROT_NONE, -1))
        return -1;
    if (mprotect((void *)(base + DATA_RW), DATA_RW_SIZE + PAGE, PROT_READ | PROT_WRITE))
        return -1;
    for (unsigned i = 0; i < PAGE / 8; i++)
        ((uint64_t *)(base + DATA_RO))[i] = 0x9e3779b97f4a7c15u * (i + 1);
    return mprotect((void *)(base + DATA_RO), PAGE, PROT_READ);
}

/* Code pages start without write access; sandbox_write_code() gives it for the time of the write.
 */
static int map_code(enum code_area area, int code_prot, int fd)
{
    if (!map_at(area_base[area], (size_t)SLOTS * SLOT_SIZE, PROT_READ | PROT_WRITE, fd))
        return -1;
    for (unsigned i = 0; i < SLOTS; i++)
        if (mprotect((void *)(sandbox_slot(area, i) + SLOT_CODE), SLOT_CODE_SIZE, code_prot))
            return -1;
    return 0;
}

static int map_alias(void)
{
    size_t size = (size_t)SLOTS * SLOT_SIZE;
    int fd = memfd_create("insndiff", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size))
        return -1;
    alias_rw = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (alias_rw == MAP_FAILED || map_code(AREA_ALIAS, PROT_READ | PROT_EXEC, fd))
        return -1;
    return close(fd);
}

static int catch_faults(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    stack_t stack = {.ss_size = 256 * 1024};
    stack.ss_sp = malloc(stack.ss_size);
    if (!stack.ss_sp || sigaltstack(&stack, NULL))
        return -1;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_sigaction = insn_on_signal,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(signals[i], &action, NULL))
            return -1;
    }
    return 0;
}

static void choose_trampoline(const struct cpu *cpu)
{
    unsigned eax, ecx, edx;
    enter = cpu->avx512 ? insn_enter_avx512 : cpu->avx ? insn_enter_avx : insn_enter_sse;
    exit_addr = (uint64_t)(cpu->avx512 ? insn_exit_avx512
                           : cpu->avx  ? insn_exit_avx
                                       : insn_exit_sse);
    if (cpu->avx)
        for (unsigned i = XCOMP_AVX; i < XCOMPS; i++)
            __cpuid_count(0xd, i, eax, xcomp_offset[i], ecx, edx);
}

int sandbox_init(const struct cpu *cpu)
{
    sandbox_cpu = cpu;
    choose_trampoline(cpu);
    if (!map_at(CTL_BASE, CTL_SIZE, PROT_READ | PROT_WRITE, -1) || map_data(A_BASE) ||
        map_data(B_BASE) || !map_at(STK_BASE, STK_SIZE, PROT_NONE, -1) ||
        mprotect((void *)(STK_BASE + STK_RW), STK_RW_SIZE, PROT_READ | PROT_WRITE) ||
        map_code(AREA_LOW, PROT_READ | PROT_EXEC, -1) ||
        map_code(AREA_FAR, PROT_READ | PROT_EXEC, -1) ||
        map_code(AREA_RWX, PROT_READ | PROT_WRITE | PROT_EXEC, -1) || map_alias() ||
        catch_faults()) {
        fprintf(stderr, "insndiff: cannot set up the sandbox: %s\n", strerror(errno));
        return -1;
    }
    *(uint64_t *)CTL_EXIT = exit_addr;
    return 0;
}

uint64_t sandbox_slot(enum code_area area, unsigned slot)
{
    return area_base[area] + (uint64_t)slot * SLOT_SIZE;
}

void sandbox_regions(uint64_t slot_base, struct region out[SANDBOX_REGIONS])
{
    out[0] = (struct region){"A", A_BASE + DATA_RW, DATA_RW_SIZE};
    out[1] = (struct region){"B", B_BASE + DATA_RW, DATA_RW_SIZE};
    out[2] = (struct region){"stack", STK_BASE + STK_RW, STK_RW_SIZE};
    out[3] = (struct region){"data1", slot_base, PAGE};
    out[4] = (struct region){"data2", slot_base + SLOT_DATA2, PAGE};
}

void sandbox_write_code(enum code_area area, uint64_t addr, const uint8_t *code, size_t size)
{
    uint64_t pages = addr & ~(uint64_t)(PAGE - 1);
    size_t span = ((addr + size + PAGE - 1) & ~(uint64_t)(PAGE - 1)) - pages;
    bool protect = area == AREA_LOW || area == AREA_FAR;

    if (protect && mprotect((void *)pages, span, PROT_READ | PROT_WRITE))
        abort();
    memcpy(area == AREA_ALIAS ? alias_rw + (addr - CODE_ALIAS) : (void *)addr, code, size);
    if (protect && mprotect((void *)pages, span, PROT_READ | PROT_EXEC))
        abort();
}

/* FIP, FDP and FOP name the last x87 instruction's place, reserved bytes hold anything. */
static void forget_x87_pointers(uint8_t fx[512])
{
    zero_bytes(fx + 6, 18);
    for (int i = 0; i < 8; i++)
        zero_bytes(fx + 32 + 16 * i + 10, 6);
    zero_bytes(fx + 416, 96);
}

static void read_vectors(struct machine *m, const uint8_t *fpstate)
{
    uint64_t present = *(const uint64_t *)(fpstate + 512);

    for (int i = 0; i < 16; i++) {
        copy_bytes(m->zmm[i], fpstate + 160 + 16 * i, 16);
        if (present & 1u << XCOMP_AVX)
            copy_bytes(m->zmm[i] + 16, fpstate + xcomp_offset[XCOMP_AVX] + 16 * i, 16);
    }
    if (!sandbox_cpu->avx512)
        return;
    if (present & 1u << XCOMP_OPMASK)
        copy_bytes(m->k, fpstate + xcomp_offset[XCOMP_OPMASK], 64);
    for (int i = 0; i < 16; i++) {
        if (present & 1u << XCOMP_ZMM_HI256)
            copy_bytes(m->zmm[i] + 32, fpstate + xcomp_offset[XCOMP_ZMM_HI256] + 32 * i, 32);
        if (present & 1u << XCOMP_HI16_ZMM)
            copy_bytes(m->zmm[16 + i], fpstate + xcomp_offset[XCOMP_HI16_ZMM] + 64 * i, 64);
    }
}

static void read_context(struct machine *m, const mcontext_t *mc)
{
    static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
    const uint8_t *fpstate = (const uint8_t *)mc->fpregs;

    zero_bytes(m, sizeof *m);
    for (int i = 0; i < 16; i++)
        m->gpr[i] = (uint64_t)mc->gregs[order[i]];
    m->flags = (uint64_t)mc->gregs[REG_EFL];
    if (!fpstate)
        return;
    copy_bytes(m->fx, fpstate, 512);
    forget_x87_pointers(m->fx);
    if (sandbox_cpu->avx)
        read_vectors(m, fpstate);
}

/* 0: nowhere */
static uint64_t resume_address(uint64_t rip)
{
    uint64_t off = rip - resume_at->entry;
    if (off >= resume_at->size)
        return 0;
    for (unsigned i = 0; i < resume_at->count; i++)
        if (resume_at->off[i] > off)
            return resume_at->entry + resume_at->off[i];
    return 0;
}

/* A fault of the tester itself is not recorded: it dies of SIGILL in here. */
void insn_record_fault(int signo, siginfo_t *info, void *context)
{
    mcontext_t *mc = &((ucontext_t *)context)->uc_mcontext;

    if (!inside)
        __asm__ volatile("ud2");
    inside = false;
    last_fault.signo = signo;
    last_fault.code = info->si_code;
    last_fault.addr = (uint64_t)info->si_addr;
    last_fault.trapno = (uint64_t)mc->gregs[REG_TRAPNO];
    last_fault.err = (uint64_t)mc->gregs[REG_ERR];
    last_fault.rip = (uint64_t)mc->gregs[REG_RIP];
    read_context(&last_fault.at, mc);
    uint64_t next = resume_at && past_count < SANDBOX_RESUMES
                        ? resume_address(last_fault.rip - (signo == SIGTRAP))
                        : 0;
    if (!next) {
        mc->gregs[REG_RIP] = (greg_t)exit_addr;
        return;
    }
    copy_bytes(&past_fault[past_count++], &last_fault, sizeof last_fault);
    zero_bytes(&last_fault, sizeof last_fault);
    mc->gregs[REG_RIP] = (greg_t)next;
    mc->gregs[REG_EFL] &= (greg_t)resume_at->kept_flags;
    inside = true;
}

void sandbox_run(const struct machine *start, uint64_t entry, const struct resume *resume,
                 struct outcome *out)
{
    struct machine *in = (struct machine *)CTL_IN;
    uint64_t host_fs = 0;

    raw_arch_prctl(ARCH_GET_FS, (uint64_t)&host_fs);
    copy_bytes(in, start, sizeof *in);
    zero_bytes((void *)CTL_OUT, sizeof(struct machine));
    *(uint64_t *)CTL_ENTRY = entry;
    *(uint64_t *)CTL_EXIT = exit_addr;
    zero_bytes(&last_fault, sizeof last_fault);
    past_count = 0;
    resume_at = resume;

    raw_arch_prctl(ARCH_SET_FS, start->fsbase);
    inside = true;
    enter();
    inside = false;
    raw_arch_prctl(ARCH_GET_FS, CTL_OUT + offsetof(struct machine, fsbase));
    raw_arch_prctl(ARCH_SET_FS, host_fs);

    copy_bytes(&out->end, (void *)CTL_OUT, sizeof out->end);
    copy_bytes(&out->fault, &last_fault, sizeof out->fault);
    copy_bytes(out->past, past_fault, past_count * sizeof *past_fault);
    out->past_count = past_count;
    forget_x87_pointers(out->end.fx);
}
