/* xinuse.c - xgetbv(1) and what the xsave family writes depend on register values only, not on the
 * interrupts that came since vzeroall. */
#include "rule.h"
#include <cpuid.h>

static unsigned char area[2][4096] __attribute__((aligned(64)));

static __attribute__((noinline)) uint32_t spin_and_read(long loops)
{
    uint32_t low, high;
    __asm__ volatile("vzeroall\n"
                     "1: dec %2\n"
                     "jnz 1b\n"
                     "mov $1, %%ecx\n"
                     "xgetbv"
                     : "=a"(low), "=d"(high), "+r"(loops)
                     :
                     : "rcx", "cc", "memory");
    return low;
}

static __attribute__((noinline)) void spin_and_save(long loops, unsigned char *to)
{
    __asm__ volatile("vzeroall\n"
                     "fninit\n"
                     "1: dec %0\n"
                     "jnz 1b\n"
                     "mov $7, %%eax\n"
                     "xor %%edx, %%edx\n"
                     "xsavec (%1)"
                     : "+r"(loops)
                     : "r"(to)
                     : "rax", "rdx", "cc", "memory");
}

int main(void)
{
    uint32_t a, b, c, d;
    __cpuid(1, a, b, c, d);
    if (!(c >> 27 & 1) || !(c >> 28 & 1))
        skip("no AVX");
    __cpuid_count(0xd, 1, a, b, c, d);
    if ((a & 6) != 6)
        skip("no xsavec or no xgetbv(1)");
    uint32_t first = spin_and_read(1000);
    int changed = 0, bytes_changed = 0;
    for (int i = 0; i < 40; i++)
        changed += spin_and_read(600000) != first;
    spin_and_save(1000, area[0]);
    for (int i = 0; i < 40; i++) {
        memset(area[1], 0, sizeof area[1]);
        spin_and_save(600000, area[1]);
        bytes_changed += memcmp(area[0], area[1], sizeof area[0]) != 0;
    }
    say("xinuse %x, saved %016lx\n", first, digest(area[1], sizeof area[1]));
    check(changed == 0);
    check(bytes_changed == 0);
    return 0;
}
