/* deep_recursion.c - the stack grows by faults, in main and on a thread's stack. */
#include "rule.h"

static __attribute__((noinline)) uint64_t deep(int n, uint64_t x)
{
    volatile uint64_t frame[64];
    for (int i = 0; i < 64; i += 16)
        frame[i] = x * (uint64_t)(i + 1) + (uintptr_t)&frame[i];
    return n ? deep(n - 1, x * 31 + frame[16]) + frame[48] : frame[0];
}

static void *thread(void *arg)
{
    say("thread: %016lx\n", deep(5000, now_ns()));
    return arg;
}

int main(void)
{
    int local;
    say("stack at %p\n", (void *)&local);
    say("main: %016lx\n", deep(10000, now_ns())); /* over 5 MB */
    pthread_join(start(thread, NULL), NULL);
    say("main: %016lx\n", deep(10000, now_ns()));
    return 0;
}
