/* alignment_check.c - with the AC flag set, a misaligned access gives SIGBUS with BUS_ADRALN. */
#include "subject.h"

static volatile int code;

static void out(int sig, siginfo_t *si, void *uc)
{
    ((ucontext_t *)uc)->uc_mcontext.gregs[REG_EFL] &= ~0x40000;
    ((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP] += 2;
    code = sig * 100 + si->si_code;
}

int main(void)
{
    static char buf[16] __attribute__((aligned(16)));
    on_signal(SIGBUS, out, 0);
    __asm__ volatile(
        "sub $128, %%rsp\n\tpushfq\n\torl $0x40000, (%%rsp)\n\tpopfq\n\tmov (%0), %%eax\n\t"
        "pushfq\n\tandl $~0x40000, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp"
        :
        : "r"(buf + 1)
        : "rax", "cc", "memory");
    say("%d\n", code);
    return 0;
}
