/* trap.c - int3 in both its forms: the handler sees the pc behind it and returns to there. */
#include "subject.h"

extern const char after_int3[], after_long_form[];
static volatile int hits;

static void trap(int sig, siginfo_t *si, void *uc)
{
    static const char *const want[] = {after_int3, after_long_form};
    const greg_t *g = ((ucontext_t *)uc)->uc_mcontext.gregs;
    say("signal %d code %d trap %lld pc %s\n", sig, si->si_code, g[REG_TRAPNO],
        hits < 2 && g[REG_RIP] == (greg_t)want[hits] ? "behind" : "other");
    hits++;
}

int main(void)
{
    on_signal(SIGTRAP, trap, 0);
    __asm__ volatile(".globl after_int3, after_long_form\n"
                     "int3\nafter_int3:\n\tnop\n\t"
                     ".byte 0xcd, 0x03\nafter_long_form:\n\tnop" ::
                         : "memory");
    say("hits %d\n", hits);
    return 0;
}
