/* code_edges.c - jumps to pages that cannot run, and execution that falls off a page's end. */
#include "subject.h"
#include <setjmp.h>

static sigjmp_buf env;
static uint8_t *base;

/* An offset from base, or -1 for places elsewhere. */
static long place(greg_t address)
{
    long offset = (long)(address - (greg_t)base);
    return offset >= 0 && offset < (long)(4 * PAGE) ? offset : -1;
}

static void out(int sig, siginfo_t *si, void *uc_)
{
    const greg_t *g = ((ucontext_t *)uc_)->uc_mcontext.gregs;
    say("signal %d code %d pc %+ld address %+ld error %lld rbx %lld\n", sig, si->si_code,
        place(g[REG_RIP]), place((greg_t)si->si_addr), g[REG_ERR], g[REG_RBX]);
    siglongjmp(env, 1);
}

static void run(const char *what, uint8_t *p)
{
    say("%s: ", what);
    if (sigsetjmp(env, 1) == 0) {
        __asm__ volatile("mov $77, %%ebx\n\tcall *%0" : : "r"(p) : "rax", "rbx", "rcx", "memory");
        say("returned\n");
    }
}

int main(void)
{
    base = map_code(4 * PAGE);
    on_signal(SIGSEGV, out, 0);
    on_signal(SIGILL, out, 0);
    on_signal(SIGBUS, out, 0);
    mprotect(base + PAGE, PAGE, PROT_READ | PROT_WRITE);
    munmap(base + 3 * PAGE, PAGE);
    run("data page", base + PAGE + 16);
    run("unmapped page", base + 3 * PAGE + 32);
    memset(base, 0x90, PAGE);
    run("falling into data", base + PAGE - 10);
    base[PAGE - 2] = 0xff;
    base[PAGE - 1] = 0xc3; /* inc %ebx, and then off the end */
    run("one instruction, then the end", base + PAGE - 2);
    base[PAGE - 1] = 0xb8; /* mov imm32: its immediate lies on the next page */
    base[PAGE - 2] = 0x90;
    run("instruction across the end", base + PAGE - 1);
    memset(base + 2 * PAGE, 0x90, PAGE);
    base[3 * PAGE - 3] = 0xff;
    base[3 * PAGE - 2] = 0xc3;
    run("falling into nothing", base + 3 * PAGE - 3);
    base[3 * PAGE - 1] = 0x0f;
    run("half an opcode", base + 3 * PAGE - 1);
    base[3 * PAGE - 1] = 0xc3;
    run("ret as the last byte", base + 3 * PAGE - 1);
    base[3 * PAGE - 2] = 0xeb;
    base[3 * PAGE - 1] = 0x00;
    run("jump over the end", base + 3 * PAGE - 2);
    base[16] = 0x06; /* push %es: not in 64-bit mode */
    run("invalid opcode", base + 16);
    base[16] = 0xf0;
    base[17] = 0x90; /* lock nop */
    run("invalid lock", base + 16);
    memset(base + 16, 0x66, 15);
    base[31] = 0x90;
    run("sixteen bytes", base + 16);
    run("non-canonical", (uint8_t *)0x800000000000UL);
    return 0;
}
