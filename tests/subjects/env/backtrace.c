/* backtrace.c - backtrace() names the real frames, from plain code, a callback and a signal frame.
 */
#include "subject.h"
#include <execinfo.h>

static void show(const char *title)
{
    void *pc[50];
    int n = backtrace(pc, 50);
    char **names = backtrace_symbols(pc, n);
    say("%s:", title);
    for (int i = 1; i < n; i++) {
        char *at = strchr(names[i], '('), *plus = at ? strchr(at, '+') : NULL;
        if (plus && plus > at + 1)
            say(" %.*s", (int)(plus - at - 1), at + 1);
    }
    say("\n");
    free(names);
}

__attribute__((noinline)) void level3(void)
{
    show("plain");
    __asm__ volatile("");
}

__attribute__((noinline)) void level2(void)
{
    level3();
    __asm__ volatile("");
}

int compare(const void *a, const void *b)
{
    static int once;
    if (!once++)
        show("callback");
    return *(const int *)a - *(const int *)b;
}

void handler(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    show("signal");
}

__attribute__((noinline)) void raiser(void)
{
    raise(SIGUSR1);
    __asm__ volatile("");
}

__attribute__((noinline)) void faulter(volatile int *p)
{
    *p = 1;
    __asm__ volatile("");
}

void fault_handler(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)uc;
    show("fault");
    mprotect((void *)((uintptr_t)si->si_addr & -PAGE), PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
    level2();
    int v[3] = {3, 2, 1};
    qsort(v, 3, sizeof v[0], compare);
    on_signal(SIGUSR1, handler, 0);
    on_signal(SIGSEGV, fault_handler, 0);
    raiser();
    faulter((int *)map_anon(PAGE, PROT_NONE));
    return 0;
}
