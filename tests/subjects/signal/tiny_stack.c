/* tiny_stack.c - rsp at a page's very start, misaligned, or no stack at all, while signals arrive.
 */
#include "subject.h"
#include <sys/time.h>

static volatile int hits;
static uint8_t *edge;

static void tick(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    hits++;
}

/* Calls, returns, indirect jumps, cpuid and system calls with rsp = sp; below it is no memory. */
static long work(uint64_t sp, long rounds, int with_calls)
{
    long sum = 0;
    __asm__ volatile("mov %%rsp, %%r15\n\t"
                     "mov %[sp], %%rsp\n"
                     "1:\ttest %[calls], %[calls]\n\tjz 4f\n\t"
                     "add $8, %%rsp\n\tcall 5f\n\tlea 6f(%%rip), %%rax\n\tpush %%rax\n\tret\n"
                     "6:\tsub $8, %%rsp\n"
                     "4:\tlea 2f(%%rip), %%rax\n\tjmp *%%rax\n"
                     "5:\tincq %[sum]\n\tret\n"
                     "2:\txor %%eax, %%eax\n\txor %%ecx, %%ecx\n\tcpuid\n\trdtsc\n\t"
                     "mov $39, %%eax\n\tsyscall\n\t"
                     "cmp %[sp], %%rsp\n\tjne 3f\n\tincq %[sum]\n"
                     "3:\tdec %[rounds]\n\tjnz 1b\n\t"
                     "mov %%r15, %%rsp"
                     : [sum] "+r"(sum), [rounds] "+r"(rounds)
                     : [sp] "r"(sp), [calls] "r"(with_calls)
                     : "rax", "rbx", "rcx", "rdx", "r11", "r15", "cc", "memory");
    return sum;
}

int main(void)
{
    static uint8_t alt[65536];
    stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
    uint8_t *p = map_anon(2 * PAGE, PROT_READ | PROT_WRITE);
    mprotect(p, PAGE, PROT_NONE);
    edge = p + PAGE;
    sigaltstack(&ss, NULL);
    on_signal(SIGALRM, tick, SA_ONSTACK | SA_RESTART);
    struct itimerval it = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &it, NULL);
    long wrong = 0;
    while (hits < 30) {
        wrong += work((uintptr_t)edge, 50, 1) != 100;
        wrong += work((uintptr_t)edge + 3, 50, 1) != 100;
        wrong += work(0x10, 50, 0) != 50;
        wrong += work(0x8123456789abcdef, 50, 0) != 50;
    }
    say("wrong %ld\n", wrong);
    return 0;
}
