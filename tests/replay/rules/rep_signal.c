/* rep_signal.c - a fault in the middle of REP MOVS, and signals that must wait until a REP is done.
 */
#include "rule.h"
#include <sys/time.h>

static uint8_t *to;
static volatile int faults, hits;
static uint64_t state;

static void on_segv(int sig, siginfo_t *info, void *context)
{
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)sig;
    faults++;
    state = state * 31 + (uint64_t)g[REG_RCX] + (uint64_t)g[REG_RSI] + (uint64_t)g[REG_RDI];
    check((uint64_t)g[REG_RDI] == (uint64_t)info->si_addr);
    mprotect((void *)((uintptr_t)info->si_addr & ~(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

static void on_alarm(int sig, siginfo_t *info, void *context)
{
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)sig, (void)info;
    hits++;
    state = state * 31 + (uint64_t)g[REG_RIP] + (uint64_t)g[REG_RCX] + (uint64_t)g[REG_RDI];
}

int main(void)
{
    size_t bytes = 1 << 20;
    uint8_t *from = map_anon(bytes, PROT_READ | PROT_WRITE);
    struct itimerval itv = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    to = map_anon(bytes, PROT_NONE);
    fill(from, bytes);
    on_signal(SIGSEGV, on_segv, 0);
    on_signal(SIGALRM, on_alarm, 0);
    void *di = to, *si = from;
    size_t n = bytes - 10;
    __asm__ volatile("rep movsb" : "+D"(di), "+S"(si), "+c"(n) : : "memory");
    check(faults == 256 && memcmp(to, from, bytes - 10) == 0);
    setitimer(ITIMER_REAL, &itv, NULL);
    while (hits < 20) {
        di = to, si = from, n = bytes;
        __asm__ volatile("rep movsb" : "+D"(di), "+S"(si), "+c"(n) : : "memory");
    }
    setitimer(ITIMER_REAL, &off, NULL);
    say("state %016lx, to %016lx\n", state, digest(to, bytes));
    return 0;
}
