/* gathers.c - elements of vectors, one by one from or to memory. SPDX-License-Identifier: MIT
 *
 * Without such instructions by loops, which touch the same elements.
 */
#include <immintrin.h>

enum { ELEMENTS = 8 };

int table[64];
volatile int sum;
static const int index_of[ELEMENTS] = {3, 9, 17, 21, 30, 41, 50, 63};
static const int taken[ELEMENTS] = {-1, -1, 0, -1, -1, 0, -1, -1};

__attribute__((target("avx2"))) static int gather(void)
{
    int out[ELEMENTS];
    const __m256i mask = _mm256_loadu_si256((const __m256i *)taken);
    const __m256i at = _mm256_loadu_si256((const __m256i *)index_of);
    const __m256i v = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), table, at, mask, 4);
    _mm256_storeu_si256((__m256i *)out, v);
    return out[0] + out[1] + out[3] + out[4] + out[6] + out[7];
}

__attribute__((target("avx512f,avx512vl"))) static void scatter(int value)
{
    const __m256i at = _mm256_loadu_si256((const __m256i *)index_of);
    _mm256_mask_i32scatter_epi32(table, 0xdb, at, _mm256_set1_epi32(value), 4);
}

static int gather_by_hand(void)
{
    int s = 0;
    for (int i = 0; i < ELEMENTS; i++)
        if (taken[i])
            s += table[index_of[i]];
    return s;
}

static void scatter_by_hand(int value)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (taken[i])
            table[index_of[i]] = value;
}

int main(void)
{
    for (int i = 1; i <= 3; i++) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
            scatter(i);
        else
            scatter_by_hand(i);
        sum += __builtin_cpu_supports("avx2") ? gather() : gather_by_hand();
    }
    return sum != 36;
}
