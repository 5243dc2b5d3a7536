/* fault_registers.c - the registers, flags and pc a handler sees at a fault are exact in every
 * place. */
#include "subject.h"

enum { REGS = 16 };
extern const char at_load[], at_store[], at_div[], at_ud[], at_push[], at_call[], at_movs[],
    at_loop[];
#define KERNELS ((const char *)0xffffffff81000000)
static const char *where[] = {at_load, at_store, at_div,  at_ud,  at_push,
                              at_call, at_movs,  at_loop, KERNELS};
static const char *names[] = {
    "load", "store", "div", "ud2", "push", "call", "movs", "loop", "jump into the kernel"};
static const char *resume;
static volatile int step;
extern const char next_place[];

static void show(int sig, siginfo_t *si, void *uc_)
{
    ucontext_t *uc = uc_;
    greg_t *g = uc->uc_mcontext.gregs;
    static const int order[] = {REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                                REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    (void)si;
    say("%s: signal %d pc %s trap %lld error %lld flags %llx\n", names[step], sig,
        g[REG_RIP] == (greg_t)where[step] ? "exact" : "FAIL", g[REG_TRAPNO], g[REG_ERR],
        g[REG_EFL] & 0xcd5);
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        say(" %llx", g[order[i]]);
    say(" rax %llx cs %llx\n", g[REG_RAX], g[REG_CSGSFS] & 0xffff);
    step++;
    g[REG_RIP] = (greg_t)resume;
}

#define SETUP                                                                                      \
    "mov %%rsp, %%r11\n\tpush %%rbp\n\tmov %%rsp, save_rsp(%%rip)\n\t"                             \
    "mov $0xb1, %%ebx\n\tmov $0xc1, %%ecx\n\tmov $0xd1, %%edx\n\tmov $0x51, %%esi\n\t"             \
    "mov $0xd2, %%edi\n\tmov $0xb2, %%ebp\n\tmov $0x81, %%r8d\n\tmov $0x91, %%r9d\n\t"             \
    "mov $0x10, %%r10d\n\tmov $0x11, %%r11d\n\tmov $0x12, %%r12d\n\tmov $0x13, %%r13d\n\t"         \
    "mov $0x14, %%r14d\n\tmov $0x15, %%r15d\n\tmov $0xa1, %%eax\n\tcmp %%eax, %%eax\n\tstc\n\t"
#define LEAVE "mov save_rsp(%%rip), %%rsp\n\tpop %%rbp"
#define CLOBBER                                                                                    \
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",       \
        "r15", "cc", "memory"
#define PLACE(code)                                                                                \
    do {                                                                                           \
        __asm__ volatile("lea 9f(%%rip), %%rax\n\tmov %%rax, %0\n\tsub $256, %%rsp\n\t" SETUP code \
                         "\n9:\t" LEAVE "\n\tadd $256, %%rsp"                                      \
                         : "=m"(resume)                                                            \
                         :                                                                         \
                         : CLOBBER);                                                               \
    } while (0)

uint64_t save_rsp;

int main(void)
{
    static uint8_t alt[65536];
    stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
    sigaltstack(&ss, NULL);
    on_signal(SIGSEGV, show, SA_ONSTACK);
    on_signal(SIGFPE, show, SA_ONSTACK);
    on_signal(SIGILL, show, SA_ONSTACK);
    PLACE("inc %%rbx\n\tat_load: mov (%%rcx), %%rdx");
    PLACE("add %%rax, %%rbx\n\tat_store: movb $1, 0x10(%%rcx,%%rdx,2)");
    PLACE("xor %%ecx, %%ecx\n\tat_div: div %%rcx");
    PLACE("cmp %%rax, %%rbx\n\tat_ud: ud2");
    PLACE("mov $0x100, %%esp\n\tat_push: push %%rax");
    PLACE("mov $0x100, %%esp\n\tat_call: call *%%rax");
    PLACE("std\n\tmov $0x1000, %%esi\n\tat_movs: rep movsb\n\t");
    __asm__ volatile("cld");
    PLACE(
        "mov $5, %%ecx\n1:\tinc %%rax\n\tmov %%rcx, %%rdx\n\tloop 1b\n\tat_loop: mov %%al, (%%rax)");
    PLACE("mov $0xffffffff81000000, %%rax\n\tjmp *%%rax");
    check(step == 9);
    return 0;
}
