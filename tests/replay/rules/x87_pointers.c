/* x87_pointers.c - the last x87 instruction and its operand: zeros wherever they are stored, as on
 * a CPU that forgets them at a context switch; of an unmasked exception the program's own pc. */
#include "rule.h"

#include <cpuid.h>
#include <sched.h>

static double value = 1.5;
static uint8_t area[8192] __attribute__((aligned(64)));
extern const char excepting[], waiting[];

static uint64_t word(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, at, bytes);
    return v;
}

/* FOP, FIP, FDP of the format that fxsave and xsave have. */
static void show(const char *what, const uint8_t *x)
{
    say("%s: opcode %lx instruction %s operand %lx\n", what, word(x + 6, 2),
        word(x + 8, 8) == (uintptr_t)excepting ? "excepting"
        : word(x + 8, 8)                       ? "FAIL"
                                               : "0",
        word(x + 16, 8));
    check(!word(x + 6, 2) && !word(x + 16, 8));
}

/* Stored at once, and after other threads and processes had the CPU. */
static void store(int round)
{
    uint8_t env[108];
    for (int i = 0; i < round; i++)
        sched_yield();
    __asm__ volatile("fldl %1\n\tfaddl %1\n\tfnstenv %0\n\tfstp %%st" : "=m"(env) : "m"(value));
    check(!word(env + 12, 4) && !word(env + 16, 4) && !word(env + 20, 4));
    check(word(env + 24, 4) == 0xffff0000);
    __asm__ volatile("fldl %1\n\t.byte 0x66\n\tfnstenv %0\n\tfstp %%st" : "=m"(env) : "m"(value));
    check(!word(env + 6, 8));
    __asm__ volatile("fldl %1\n\tfnsave %0" : "=m"(env) : "m"(value));
    check(!word(env + 12, 4) && !word(env + 16, 4) && !word(env + 20, 4));
    __asm__ volatile("fninit\n\tfldl %1\n\tfxsave64 %0\n\tfstp %%st" : "=m"(area) : "m"(value));
    show("fxsave", area);
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
        __asm__ volatile("fldl %1\n\txsave64 %0\n\tfstp %%st"
                         : "=m"(area)
                         : "m"(value), "a"(7), "d"(0));
        show("xsave", area);
        say("in use: %lx\n", word(area + 512, 8));
    }
}

static void plain(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    show("frame", (uint8_t *)((ucontext_t *)context)->uc_mcontext.fpregs);
}

static void excepted(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    uint8_t *x = (uint8_t *)uc->uc_mcontext.fpregs;
    show("exception", x);
    check(sig == SIGFPE && info->si_addr == (void *)waiting);
    check(word(x + 8, 8) == (uintptr_t)excepting);
    memset(x + 2, 0, 2); /* status: go on */
}

int main(void)
{
    on_signal(SIGUSR1, plain, 0);
    on_signal(SIGFPE, excepted, 0);
    for (int round = 0; round < 3; round++)
        store(round);
    __asm__ volatile("fldl %0" : : "m"(value));
    raise(SIGUSR1);
    __asm__ volatile("fstp %st");
    /* 1 / 0, unmasked; the next x87 instruction that waits faults */
    uint16_t control = 0x37b;
    __asm__ volatile("fninit\n\tfldcw %0\n\tfld1\n\tfldz\n"
                     "excepting:\tfdivrp\n\tnop\n"
                     "waiting:\tfwait\n\tfninit"
                     :
                     : "m"(control));
    store(1);
    return 0;
}
