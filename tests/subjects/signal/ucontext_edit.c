/* ucontext_edit.c - a handler that changes rip, registers, flags, xmm and the mask of its ucontext.
 */
#include "subject.h"

extern const char skip_here[], resume_here[], fault_here[];
static volatile int mode;
static volatile int rip_exact;

static void edit(int sig, siginfo_t *si, void *uc_)
{
    ucontext_t *uc = uc_;
    greg_t *g = uc->uc_mcontext.gregs;
    (void)si;
    if (mode == 1) {
        rip_exact = g[REG_RIP] == (greg_t)fault_here;
        g[REG_RIP] = (greg_t)skip_here;
        g[REG_RAX] = 111;
        g[REG_RBX] = 222;
        g[REG_R15] = 333;
        g[REG_EFL] |= 0x8d5;
        for (int i = 0; i < 16; i++)
            for (int k = 0; k < 4; k++)
                uc->uc_mcontext.fpregs->_xmm[i].element[k] = (unsigned)(i * 10 + k);
        uc->uc_mcontext.fpregs->mxcsr = 0x1fc0;
    } else {
        g[REG_RIP] = (greg_t)resume_here;
        sigaddset(&uc->uc_sigmask, SIGUSR2);
    }
    (void)sig;
}

int main(void)
{
    on_signal(SIGSEGV, edit, 0);
    on_signal(SIGILL, edit, 0);
    uint64_t a, b, c, flags;
    unsigned x[16][4], mxcsr, mxcsr0;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr0));
    mode = 1;
    __asm__ volatile(".globl fault_here, skip_here\n"
                     "xor %%ebx, %%ebx\n\txor %%r15d, %%r15d\n"
                     "fault_here:\tmov 8, %%rax\n\tud2\n"
                     "skip_here:\tpushfq\n\tpop %3\n\t"
                     "mov %%rax, %0\n\tmov %%rbx, %1\n\tmov %%r15, %2\n\t"
                     "stmxcsr %4\n\tldmxcsr %6\n\t"
                     "movups %%xmm0, (%5)\n\tmovups %%xmm1, 16(%5)\n\tmovups %%xmm2, 32(%5)\n\t"
                     "movups %%xmm7, 112(%5)\n\tmovups %%xmm8, 128(%5)\n\t"
                     "movups %%xmm15, 240(%5)"
                     : "=&m"(a), "=&m"(b), "=&m"(c), "=&r"(flags), "=&m"(mxcsr)
                     : "r"(x), "m"(mxcsr0)
                     : "rax", "rbx", "r15", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                       "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                       "xmm14", "xmm15");
    check(rip_exact);
    say("rax %lu rbx %lu r15 %lu flags %lx mxcsr %x\n", a, b, c, flags & 0x8d5, mxcsr);
    say("xmm1 %u,%u xmm8 %u,%u xmm15 %u,%u\n", x[1][0], x[1][3], x[8][0], x[8][3], x[15][0],
        x[15][3]);
    mode = 2;
    __asm__ volatile(".globl resume_here\n\tud2\n\tud2\nresume_here:" ::: "memory");
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    check(sigismember(&now, SIGUSR2) && !sigismember(&now, SIGILL));
    return 0;
}
