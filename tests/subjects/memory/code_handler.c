/* code_handler.c - code made executable, or written, by a handler at the moment it is needed. */
#include "subject.h"

static uint8_t *base;
static volatile int faults;

static void provide(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    faults++;
    uint8_t *page = (uint8_t *)((uintptr_t)si->si_addr & -PAGE);
    if (sig == SIGSEGV)
        mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (page[0] == 0) {
        memset(page, 0x90, PAGE);
        put_return(page + 100, (int)((page - base) / PAGE));
    }
    if (faults > 100)
        _exit(1);
}

/* Write-protects its own code; the handler that writes patches re-enables it, as a JIT does. */
static int wx_fault(uint8_t *p, int value)
{
    mprotect(p, PAGE, PROT_READ | PROT_EXEC);
    put_return(p, value);
    return call_at(p);
}

int main(void)
{
    base = map_anon(32 * PAGE, PROT_NONE);
    on_signal(SIGSEGV, provide, 0);
    int wrong = 0;
    for (int i = 0; i < 30; i++)
        wrong += call_at(base + (unsigned)i * PAGE) != i;
    say("wrong %d faults %d\n", wrong, faults);
    faults = wrong = 0;
    for (int i = 0; i < 40; i++)
        wrong += wx_fault(base, i) != i;
    say("wrong %d faults %d\n", wrong, faults);
    return 0;
}
