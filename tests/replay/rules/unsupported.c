/* unsupported.c - an instruction that is not translated is SIGILL also on a CPU that has it: it is
 * not executed natively, where nothing would be recorded any more. */
#include "rule.h"
#include <setjmp.h>

static sigjmp_buf back;

static void caught(int sig)
{
    siglongjmp(back, sig);
}

static void abort_transaction(void)
{
    __asm__ volatile("xabort $1" ::: "memory"); /* does nothing outside of one */
}

int main(void)
{
    signal(SIGILL, caught);
    int sig = sigsetjmp(back, 1);
    if (!sig)
        abort_transaction();
    check(sig == SIGILL);
    signal(SIGILL, SIG_DFL);
    say("process %d\n", getpid());
    abort_transaction();
    say("FAIL: it goes on\n");
    return 0;
}
