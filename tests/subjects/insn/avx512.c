/* avx512.c - AVX-512 where the CPU has it: masks, zmm arithmetic, state across a signal. */
#include "subject.h"
#include <immintrin.h>

static void handler(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    __asm__ volatile("pxor %%xmm0, %%xmm0" ::: "xmm0");
}

__attribute__((target("avx512f"))) static int work(void)
{
    __m512i x = _mm512_set1_epi32(5),
            y = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __mmask16 m = _mm512_cmpgt_epi32_mask(y, x);
    send_self(SIGUSR1);
    return _mm512_reduce_add_epi32(_mm512_mask_add_epi32(y, m, x, y));
}

int main(void)
{
    if (!__builtin_cpu_supports("avx512f"))
        skip("no AVX-512");
    on_signal(SIGUSR1, handler, 0);
    say("%d\n", work());
    return 0;
}
