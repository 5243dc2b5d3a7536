/* xsave.c - xgetbv, xsave, xsavec, xsaveopt, fxsave and their restores: what goes in comes out. */
#include "subject.h"
#include <cpuid.h>

static uint8_t area[8192] __attribute__((aligned(64))), area2[8192] __attribute__((aligned(64)));

static void set_xmm(uint64_t x)
{
    __asm__ volatile("movq %0, %%xmm3\n\tmovq %0, %%xmm15\n\tpslldq $8, %%xmm15\n\t"
                     "fninit\n\tfld1\n\tfldpi"
                     :
                     : "r"(x)
                     : "xmm3", "xmm15");
}

static int xmm_is(uint64_t x)
{
    uint64_t lo, hi, pi_gt;
    __asm__ volatile(
        "movq %%xmm3, %0\n\tmovdqa %%xmm15, %%xmm4\n\tpsrldq $8, %%xmm4\n\t"
        "movq %%xmm4, %1\n\txor %2, %2\n\tfcomip %%st(1), %%st\n\tseta %b2\n\tfstp %%st(0)"
        : "=r"(lo), "=r"(hi), "=&r"(pi_gt)::"xmm4", "cc");
    return lo == x && hi == x && pi_gt == 1;
}

static void clear_all(void)
{
    __asm__ volatile("pxor %%xmm3, %%xmm3\n\tpxor %%xmm15, %%xmm15\n\tfninit" ::: "xmm3", "xmm15");
}

#define TRY(what, save, restore)                                                                   \
    do {                                                                                           \
        memset(area, 0, sizeof area);                                                              \
        set_xmm(0x1122334455667788);                                                               \
        __asm__ volatile(save : "+m"(area) : "a"(-1), "d"(-1) : "memory");                         \
        clear_all();                                                                               \
        __asm__ volatile(restore : : "m"(area), "a"(-1), "d"(-1) : "memory", "xmm3", "xmm15");     \
        say("%s: %s\n", what, xmm_is(0x1122334455667788) ? "ok" : "FAIL");                         \
    } while (0)

int main(void)
{
    unsigned a, b, c, d, lo, hi;
    __cpuid(1, a, b, c, d);
    TRY("fxsave", "fxsave64 %0", "fxrstor64 %0");
    if (!(c & 1 << 27))
        skip("no xsave");
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    say("xcr0 %x %x\n", hi, lo & ~(3u << 17)); /* tiles are hidden */
    TRY("xsave", "xsave64 %0", "xrstor64 %0");
    __cpuid_count(0xd, 1, a, b, c, d);
    if (a & 1)
        TRY("xsaveopt", "xsaveopt64 %0", "xrstor64 %0");
    if (a & 2)
        TRY("xsavec", "xsavec64 %0", "xrstor64 %0");
    if (a & 4) {
        __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(1));
        check((lo & ~0x2e7u) == 0 && hi == 0);
    }
    /* Only SSE asked for: the x87 part of the area is not written. */
    memset(area2, 0x5a, 512);
    memset(area2 + 512, 0, 64);
    set_xmm(77);
    __asm__ volatile("xsave64 %0" : "+m"(area2) : "a"(2), "d"(0) : "memory");
    check(area2[0] == 0x5a && area2[32] == 0x5a && area2[160 + 48] == 77);
    check(area2[512] & 2);
    __asm__ volatile("fninit");
    return 0;
}
