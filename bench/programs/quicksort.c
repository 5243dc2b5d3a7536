/* quicksort.c - quicksort of ten million integers: branches that cannot be predicted.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 10000000, SMALL = 16 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 4;
}

static void insertion_sort(uint32_t *v, long lo, long hi)
{
    for (long i = lo + 1; i <= hi; i++) {
        uint32_t x = v[i];
        long j = i;

        for (; j > lo && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

static void quicksort(uint32_t *v, long lo, long hi)
{
    while (hi - lo > SMALL) {
        uint32_t pivot = v[lo + (hi - lo) / 2];
        long i = lo, j = hi;

        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                uint32_t t = v[i];

                v[i++] = v[j];
                v[j--] = t;
            }
        }
        quicksort(v, lo, j);
        lo = i;
    }
    insertion_sort(v, lo, hi);
}

int main(void)
{
    uint32_t *v = malloc(COUNT * sizeof(*v)), seed = 12345;
    uint64_t sum = 0;

    if (!v)
        return 1;
    for (long i = 0; i < COUNT; i++)
        v[i] = next_random(&seed);
    quicksort(v, 0, COUNT - 1);
    for (long i = 1; i < COUNT; i++) {
        if (v[i - 1] > v[i])
            return 2;
        sum += (uint64_t)v[i] * (uint64_t)(i & 0xff);
    }
    printf("%llu\n", (unsigned long long)sum);
    free(v);
    return 0;
}
