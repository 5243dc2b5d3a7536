/* singlestep.c - the trap flag set by popf: one SIGTRAP after each instruction until it is cleared.
 */
#include "subject.h"

static volatile int traps;
static volatile unsigned last_code;

static void trap(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)uc;
    traps++;
    last_code = (unsigned)si->si_code;
}

int main(void)
{
    on_signal(SIGTRAP, trap, 0);
    __asm__ volatile("sub $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
                     "nop\n\tnop\n\tnop\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\t"
                     "add $128, %%rsp" ::
                         : "cc", "memory");
    say("traps %d code %u\n", traps, last_code);
    return 0;
}
