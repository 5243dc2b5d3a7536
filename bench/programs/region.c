/* region.c - a program of which a part is worth recording. SPDX-License-Identifier: MIT
 *
 * `region work`: a begin that is not recorded, then DrDebug's size of a part: 100 million
 * instructions of the main thread, 541 million in all with four threads; it prints the seconds that
 * the part took. `region private|shared MB`: holds so much memory and prints how long the mark
 * took, in milliseconds. `region long`: as much work as takes a second or two, with calls of
 * functions and system calls.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../include/drdebug.h"

enum { THREADS = 4, ROUND = 21, TABLE = 1 << 16 };

static uint32_t table[THREADS][TABLE];
static pthread_barrier_t all;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ROUND instructions or so a round, as the compiler makes them: loads, stores, a branch. */
static uint32_t churn(uint32_t *t, long rounds, uint32_t x)
{
    for (long i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        uint32_t *at = &t[x % TABLE];
        if (*at & 1)
            *at += x;
        else
            *at ^= (uint32_t)i;
    }
    return x;
}

static void *work(void *arg)
{
    const long k = (long)arg;
    const long most = (k ? 147l : 100l) * 1000000 / ROUND;
    churn(table[k], 200000, (uint32_t)k + 1);
    pthread_barrier_wait(&all);
    if (k)
        churn(table[k], most, (uint32_t)k + 7);
    return NULL;
}

static int part(void)
{
    pthread_t other[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (long k = 1; k < THREADS; k++)
        pthread_create(&other[k], NULL, work, (void *)k);
    churn(table[0], 200000, 1);
    const double begin = now_s();
    DRDEBUG_REGION_BEGIN("part");
    pthread_barrier_wait(&all);
    churn(table[0], 100l * 1000000 / ROUND, 7);
    for (long k = 1; k < THREADS; k++)
        pthread_join(other[k], NULL);
    DRDEBUG_REGION_END("part");
    printf("%.4f\n", now_s() - begin);
    return 0;
}

static int hold(int flags, size_t bytes)
{
    uint64_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < bytes / 8; i += 2)
        p[i] = i * 0x9e3779b97f4a7c15u;
    const double begin = now_s();
    DRDEBUG_MARK("held");
    printf("%.4f\n", (now_s() - begin) * 1e3);
    return 0;
}

__attribute__((noinline)) void never_called(void)
{
    __asm__ volatile("");
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int stretch(int argc)
{
    uint32_t x = 1;
    for (int i = 0; i < 60; i++) {
        x = churn(table[i % THREADS], 1000000, x);
        qsort(table[i % THREADS], TABLE, sizeof table[0][0], by_value);
        x ^= (uint32_t)getppid();
    }
    if (argc > 100)
        never_called();
    return x == 42;
}

int main(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "";
    const size_t bytes = argc > 2 ? (size_t)atol(argv[2]) << 20 : 0;
    if (!strcmp(what, "work"))
        return part();
    if (!strcmp(what, "long"))
        return stretch(argc);
    if (!strcmp(what, "private") || !strcmp(what, "shared"))
        return hold(what[0] == 'p' ? MAP_PRIVATE : MAP_SHARED, bytes);
    return 2;
}
