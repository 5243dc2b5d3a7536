/* intloop.c - integer arithmetic in one loop, with one data-dependent branch.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    uint64_t x = 0x9e3779b97f4a7c15, odd = 0;

    for (uint32_t i = 0; i < 320000000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if ((x & 0xff) == 0)
            odd += x + i;
    }
    printf("%016llx %016llx\n", (unsigned long long)x, (unsigned long long)odd);
    return 0;
}
