/* random.c - rdrand and rdseed give values and set the carry; the other flags are cleared. */
#include "subject.h"
#include <cpuid.h>

int main(void)
{
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    if (!(c & 1 << 30))
        skip("no rdrand");
    uint64_t seen[64], flags;
    int same = 0, got = 0;
    for (int i = 0; i < 64; i++) {
        unsigned char ok = 0;
        for (int t = 0; t < 100 && !ok; t++)
            __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(seen[i]), "=qm"(ok)::"cc");
        got += ok;
        for (int k = 0; k < i; k++)
            same += seen[k] == seen[i];
    }
    check(got == 64 && same == 0);
    uint32_t r32;
    uint64_t full = -1UL;
    __asm__ volatile("rdrand %k0" : "+r"(full)::"cc");
    check(full >> 32 == 0);
    __asm__ volatile("sub $128, %%rsp\n\txor %%eax, %%eax\n\trdrand %%eax\n\tpushfq\n\tpop %1\n\t"
                     "add $128, %%rsp\n\tmov %%eax, %0"
                     : "=r"(r32), "=r"(flags)::"rax", "cc");
    check((flags & 0x8d4) == 0);
    __cpuid_count(7, 0, a, b, c, d);
    if (b & 1 << 18) {
        unsigned char ok = 0;
        for (int t = 0; t < 10000 && !ok; t++)
            __asm__ volatile("rdseed %0\n\tsetc %1" : "=r"(full), "=qm"(ok)::"cc");
        check(ok);
    }
    return 0;
}
