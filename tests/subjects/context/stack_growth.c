/* stack_growth.c - the stack grows by large steps, alloca of megabytes, and deep recursion returns.
 */
#include "subject.h"
#include <alloca.h>

__attribute__((noinline)) static unsigned long big_frame(size_t n)
{
    volatile char *p = alloca(n);
    p[0] = 1;
    p[n - 1] = 2;
    return (unsigned long)(p[0] + p[n - 1] + p[n / 2] * 0);
}

__attribute__((noinline)) static unsigned long deep(unsigned long n)
{
    volatile unsigned long keep = n;
    return n == 0 ? 0 : deep(n - 1) + keep % 7;
}

int main(void)
{
    unsigned long sum = 0;
    for (size_t kib = 1; kib <= 4096; kib *= 2)
        sum += big_frame(kib << 10);
    say("sum %lu\n", sum);
    say("deep %lu\n", deep(60000));
    uint8_t *grow = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_STACK, -1, 0);
    grow[0] = 1;
    check(grow[0] == 1);
    return 0;
}
