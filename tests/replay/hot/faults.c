/* faults.c - a hot loop that faults: its loads run off the end of a mapping, and come back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hot/loop.h"

#include <sys/mman.h>

static uint8_t *area;
static uint64_t faults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    greg_t *g = uc->uc_mcontext.gregs;
    loop_look(sig, uc);
    loop_note((uint64_t)info->si_addr - (uint64_t)area);
    faults++;
    if (sig == SIGILL)
        g[REG_RIP] = (greg_t)(uintptr_t)(loop_trap + 1);
    if (sig != SIGSEGV)
        return;
    /* dec rbx comes before: the state is that before the load */
    if (g[REG_RIP] != (greg_t)(uintptr_t)loop_load ||
        (uint64_t)g[REG_RSI] != (uint64_t)info->si_addr ||
        (g[REG_RBX] == 1) != ((g[REG_EFL] & 0x40) != 0))
        if (!seen.wrong++)
            printf("FAIL: at %lx, rsi %lx, address %lx, rbx %lx, flags %lx\n", (uint64_t)g[REG_RIP],
                   (uint64_t)g[REG_RSI], (uint64_t)info->si_addr, (uint64_t)g[REG_RBX],
                   (uint64_t)g[REG_EFL]);
    if (faults % 3 == 0) { /* go on elsewhere, or again with another address */
        g[REG_RIP] = (greg_t)(uintptr_t)loop_next;
        g[REG_RAX] = 7;
    }
    g[REG_RSI] = (greg_t)(uintptr_t)(area + faults % 64);
}

int main(void)
{
    static const int signals[] = {SIGSEGV, SIGTRAP, SIGILL};
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    uint64_t turns = 0;
    area = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED || mprotect(area + 4096, 4096, PROT_NONE))
        return 2;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &a, NULL);
    for (int i = 0; i < 12; i++)
        turns += loop_run(2500, area, 40 + (uint64_t)i * 7);
    printf("%lu turns, %lu faults, digest %016lx, %lu wrong\n", turns, faults, seen.digest,
           seen.wrong);
    return seen.wrong != 0;
}
