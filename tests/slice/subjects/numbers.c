/* numbers.c - x87, vectors, values that are kept: cmov, shifts, flags.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int v8 __attribute__((vector_size(32)));
typedef float f4 __attribute__((vector_size(16)));

static long double series(int n)
{
    long double sum = 0, term = 1;
    for (int i = 1; i < n; i++) {
        term *= 1.5L / i;
        sum += i % 3 ? term : -term;
    }
    return sum;
}

static uint64_t bits(uint64_t x, int n)
{
    for (int i = 0; i < n; i++) {
        x = x << (i & 7) | x >> (64 - (i & 7) - 1);
        x = x % 3 ? x : x + 1;
        x ^= x & 1 ? 0x5bd1e995 : (uint64_t)i;
    }
    return x;
}

static uint64_t flags(uint64_t x)
{
    uint64_t carry = 0;
    __asm__(
        "add %1, %1\n\tadc $0, %0\n\tshl %%cl, %1\n\tadc $1, %0\n\tbsf %1, %0\n\tsetc %b1\n\tsbb %0, %1"
        : "+r"(carry), "+r"(x)
        : "c"(x & 3)
        : "cc");
    return carry ^ x;
}

static int gathered(const int *v)
{
    int out = 0;
    if (!__builtin_cpu_supports("avx2"))
        return 0;
    __asm__(
        "vpcmpeqd %%xmm2, %%xmm2, %%xmm2\n\tvpsrld $30, %%xmm2, %%xmm1\n\t"
        "vpxor %%xmm0, %%xmm0, %%xmm0\n\tvpgatherdd %%xmm2, (%1,%%xmm1,4), %%xmm0\n\tvmovd %%xmm0, %0"
        : "=r"(out)
        : "r"(v)
        : "xmm0", "xmm1", "xmm2", "memory");
    return out;
}

/* Some bytes, or some elements, are written and the others stay. */
static unsigned masked(char *at, int by)
{
    unsigned out = 0;
    __asm__ volatile("movd %0, %%xmm0\n\tpshufd $0x11, %%xmm0, %%xmm1\n\tpsllw $4, %%xmm1\n\t"
                     "movdqu (%1), %%xmm2\n\tpaddb %%xmm0, %%xmm2\n\tmovq %1, %%rdi\n\t"
                     "maskmovdqu %%xmm1, %%xmm2"
                     :
                     : "r"(by), "r"(at)
                     : "rdi", "xmm0", "xmm1", "xmm2", "memory");
    if (__builtin_cpu_supports("avx2"))
        __asm__ volatile("vmovd %0, %%xmm0\n\tvpslld $31, %%xmm0, %%xmm1\n\t"
                         "vpmaskmovd %%xmm0, %%xmm1, 16(%1)"
                         :
                         : "r"(by), "r"(at)
                         : "xmm0", "xmm1", "memory");
    for (int i = 0; i < 32; i++)
        out = out * 5 + (unsigned char)at[i];
    return out;
}

int main(int argc, char **argv)
{
    v8 a = {1, 2, 3, 4, 5, 6, 7, argc};
    f4 f = {1.5f, (float)argc, 2, 3};
    int v[16];
    (void)argv;
    for (int i = 0; i < 16; i++)
        v[i] = i * i + argc;
    for (int i = 0; i < 9; i++) {
        a = a * (a + v[i]) - ((a > 100) & a);
        f = f * 0.5f + (f4){1, (float)i, 0.25f, f[i & 3]};
    }
    printf("%u ", masked((char *)v, argc + 2));
    printf("%Lf %llx %llx %d %f %f %d\n", series(10 + argc),
           (unsigned long long)bits((uint64_t)argc + 99, 40),
           (unsigned long long)flags(0x8000000000000123ull + (uint64_t)argc), a[argc & 7],
           (double)f[2], sqrt((double)argc) + floor(2.5 * argc), gathered(v));
    return 0;
}
