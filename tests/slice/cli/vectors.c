/* vectors.c - variables that are all of a vector register: the upper parts count, too.
 * SPDX-License-Identifier: MIT */
#include <immintrin.h>
#include <stdlib.h>

float input[16];

static __attribute__((noinline)) void set(int i, float value)
{
    input[i] = value;
}

int main(void)
{
    for (int i = 0; i < 16; i++)
        set(i, (float)i);
    set(2, 3.5f);                      /* LOW */
    set(VECTOR_BYTES / 4 - 2, 100.5f); /* HIGH */
#if VECTOR_BYTES == 64
    register __m512 vector __asm__("xmm20") = _mm512_loadu_ps(input);
#else
    __m256 vector = _mm256_loadu_ps(input);
#endif
    __asm__ volatile("" : "+v"(vector));
    input[0] = 1; /* AT */
    __asm__ volatile("" : "+v"(vector));
    abort();
}
