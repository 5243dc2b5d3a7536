/* signal_spin.c - a thread that only counts, hit by signals: the counter, the pc and every register
 * in the frame are at an exact position. */
#include "rule.h"

static volatile int hits;
static uint64_t frames[64], counts[64];
static volatile uint64_t count;
static pthread_t victim;

static void on_usr(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    if (hits < 64) {
        greg_t *g = uc->uc_mcontext.gregs;
        uint64_t regs[] = {(uint64_t)g[REG_RIP], (uint64_t)g[REG_RSP], (uint64_t)g[REG_RAX],
                           (uint64_t)g[REG_RBX], (uint64_t)g[REG_RCX], (uint64_t)g[REG_RDX],
                           (uint64_t)g[REG_RSI], (uint64_t)g[REG_RDI], (uint64_t)g[REG_RBP]};
        frames[hits] = digest(regs, sizeof regs) + (uint64_t)info->si_pid + (uint64_t)sig;
        counts[hits] = count;
    }
    hits++;
}

static void *spin(void *arg)
{
    uint64_t x = (uint64_t)now_ns() | 1;
    while (hits < 40) {
        count++;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    *(uint64_t *)arg = x;
    return NULL;
}

int main(void)
{
    uint64_t end = 0;
    on_signal(SIGUSR1, on_usr, 0);
    victim = start(spin, &end);
    for (int i = 0; i < 40; i++) {
        pthread_kill(victim, SIGUSR1);
        while (hits <= i)
            sched_yield();
    }
    pthread_join(victim, NULL);
    for (int i = 0; i < 40; i += 8)
        say("%d: count %lu frame %016lx\n", i, counts[i], frames[i]);
    say("count %lu, x %016lx, all %016lx\n", count, end,
        digest(frames, sizeof frames) + digest(counts, sizeof counts));
    return 0;
}
