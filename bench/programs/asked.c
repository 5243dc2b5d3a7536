/* asked.c - a program to ask questions about: asked [MILLIONS]. SPDX-License-Identifier: MIT
 *
 * About that many million instructions: functions that are called seldom and often, a variable that
 * is written now and then, blocks of the heap, two threads and a lock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SELDOM = 5000, OFTEN = 100 };

volatile uint64_t total;   /* written 10,000 times */
volatile uint64_t touched; /* written a million times */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t turns;

__attribute__((noinline)) uint64_t often(uint64_t x)
{
    touched = x;
    return x * 6364136223846793005ull + 1442695040888963407ull;
}

__attribute__((noinline)) uint64_t seldom(uint64_t n, char *block)
{
    uint64_t h = n;
    for (int i = 0; i < OFTEN; i++) {
        h = often(h);
        block[h >> 60]++;
    }
    for (uint64_t i = 0; i < turns; i++)
        h ^= h << 7 ^ h >> 9 ^ i;
    return h;
}

static void *work(void *arg)
{
    for (uint64_t n = 0; n < SELDOM; n++) {
        char *block = calloc(1, 16 + n % 64);
        uint64_t h = seldom(n + (uintptr_t)arg, block);
        pthread_mutex_lock(&lock);
        total += h;
        pthread_mutex_unlock(&lock);
        free(block);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    pthread_t thread[2];
    turns = (millions * 1000000 / 2 / SELDOM - 1300) / 8;
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i << 32));
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
