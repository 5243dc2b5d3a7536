/* cpuid.c - cpuid gives what the CPU gives, all registers set, rbx kept by the compiler's contract.
 */
#include "subject.h"
#include <cpuid.h>

int main(void)
{
    static const unsigned leaves[][2] = {{0, 0},          {1, 0},          {7, 0},
                                         {7, 1},          {0xd, 1},        {0x80000000, 0},
                                         {0x80000001, 0}, {0x80000002, 0}, {0x80000003, 0},
                                         {0x80000004, 0}, {0x80000008, 0}};
    for (unsigned i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        uint64_t a = 0xaaaaaaaa00000000 | leaves[i][0], b = -1UL,
                 c = 0xcccccccc00000000 | leaves[i][1], d = -1UL;
        __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        if (leaves[i][0] == 1)
            b &= 0x00ffff00; /* the top byte is the CPU it ran on */
        if (leaves[i][0] == 7 && leaves[i][1] == 0) {
            b &= ~(1ul << 4 | 1ul << 11); /* transactional memory and tiles are hidden */
            d &= ~(1ul << 22 | 1ul << 24 | 1ul << 25);
        }
        if (leaves[i][0] == 7 && leaves[i][1] == 1) {
            a &= ~(1ul << 21);
            d &= ~(1ul << 8);
        }
        if (leaves[i][0] == 0xd)
            b = 0;
        say("%08x.%x: %lx %lx %lx %lx\n", leaves[i][0], leaves[i][1], a, b, c, d);
    }
    check(__get_cpuid_max(0, NULL) > 0);
    __builtin_cpu_init();
    check(__builtin_cpu_supports("sse2"));
    return 0;
}
