/* cpu_values.c - values that come from the CPU: rdtsc, rdtscp, rdrand, rdseed, cpuid. */
#include "rule.h"
#include <cpuid.h>

int main(void)
{
    uint32_t a, b, c, d;
    uint64_t sum = 0, last = 0, x = 0;
    int backwards = 0;
    for (int i = 0; i < 5000; i++) {
        uint64_t t = __builtin_ia32_rdtsc();
        backwards += t < last;
        last = t;
        sum = sum * 31 + t;
    }
    check(backwards == 0);
    say("tsc %016lx\n", sum);
    __cpuid(1, a, b, c, d);
    say("cpuid 1: %08x %08x %08x %08x\n", a, b, c, d);
    for (int i = 0; (c >> 30 & 1) && i < 500; i++) {
        unsigned char ok;
        __asm__ volatile("rdrand %0; setc %1" : "=r"(x), "=qm"(ok) : : "cc");
        sum = sum * 31 + x + ok;
    }
    __cpuid_count(7, 0, a, b, c, d);
    for (int i = 0; (b >> 18 & 1) && i < 500; i++) {
        unsigned char ok;
        __asm__ volatile("rdseed %0; setc %1" : "=r"(x), "=qm"(ok) : : "cc");
        sum = sum * 31 + x + ok; /* it fails when asked too often: that shows, too */
    }
    for (uint32_t leaf = 0; leaf < 0x20; leaf++) { /* 1 and 0xb hold the CPU's number */
        __cpuid_count(leaf, 0, a, b, c, d);
        sum = sum * 31 + ((uint64_t)a << 32 | b) + ((uint64_t)c << 32 | d);
    }
    say("all %016lx\n", sum);
    return 0;
}
