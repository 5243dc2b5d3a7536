/* sync_faults.c - faults of every kind, handled, with what the frame tells of them. */
#include "rule.h"
#include <setjmp.h>

static sigjmp_buf back;
static uint64_t seen;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    seen = seen * 31 + (uint64_t)sig + (uint64_t)info->si_code + (uintptr_t)info->si_addr +
           (uint64_t)g[REG_RIP] + (uint64_t)g[REG_TRAPNO] + (uint64_t)g[REG_ERR] +
           (uint64_t)g[REG_CR2] + (uint64_t)g[REG_RSP];
    say("signal %d code %d at %p, pc %llx, trap %lld error %lld\n", sig, info->si_code,
        info->si_addr, (unsigned long long)g[REG_RIP], g[REG_TRAPNO], g[REG_ERR]);
    siglongjmp(back, 1);
}

int main(void)
{
    int sigs[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (size_t i = 0; i < 5; i++)
        on_signal(sigs[i], on_fault, 0);
    volatile uint8_t *page = map_anon(PAGE, PROT_NONE);
    volatile int zero = 0, seven = 7;
    if (sigsetjmp(back, 1) == 0)
        page[now_ns() % PAGE] = 1;
    if (sigsetjmp(back, 1) == 0)
        *(volatile uint8_t *)(0x8000000000000000 + (now_ns() & 0xfff)) = 1;
    if (sigsetjmp(back, 1) == 0)
        zero = seven / zero;
    if (sigsetjmp(back, 1) == 0)
        __asm__ volatile("ud2");
    if (sigsetjmp(back, 1) == 0)
        __asm__ volatile("int3");
    if (sigsetjmp(back, 1) == 0)
        __asm__ volatile("hlt");
    if (sigsetjmp(back, 1) == 0)
        call_at((const void *)page);
    if (sigsetjmp(back, 1) == 0)
        send_self(SIGSEGV);
    say("all %016lx\n", seen);
    return 0;
}
