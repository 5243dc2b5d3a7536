/* registers.c - a variable that is smaller than what an instruction uses of its register.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

float input = 2.5f;
double output;

int main(void)
{
    float single = input;
    __asm__ volatile("" : "+x"(single));
    __asm__ volatile("movaps %0, %%xmm9\n\tcvtss2sd %%xmm9, %%xmm9\n\tmovsd %%xmm9, %1"
                     :
                     : "x"(single), "m"(output)
                     : "xmm9", "memory");
    if (output > 1)
        abort();
    return (int)single;
}
