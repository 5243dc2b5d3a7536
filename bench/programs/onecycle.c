/* onecycle.c - the shortest loop there is: a decrement and a backward branch, one cycle a turn.
 * Every turn ticks the progress counter, so this is the counter's worst case.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    uint64_t n = 2000000000;

    do {
        __asm__ volatile("" : "+r"(n)); /* keeps the compiler from knowing how it ends */
    } while (--n);
    printf("%llu\n", (unsigned long long)n);
    return 0;
}
