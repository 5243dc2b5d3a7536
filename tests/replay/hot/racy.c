/* racy.c - threads that race through the same hot loops: counters without locks, a function pointer
 * that one changes while the others call it, code that one patches.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 4, KINDS = 3 };

typedef uint64_t function(uint64_t);

static volatile uint64_t counter, mixed;
static uint64_t seen[THREADS];
static uint8_t *code; /* lea rax, [rdi + n]; ret */
static unsigned turns = 20000;

static uint64_t plus(uint64_t x)
{
    return x + counter;
}

static uint64_t times(uint64_t x)
{
    return x * 0x9e3779b97f4a7c15u + 1;
}

static uint64_t shift(uint64_t x)
{
    return (x << (counter & 63)) ^ x;
}

static function *volatile current = plus;

static void *run(void *arg)
{
    static function *const kinds[KINDS] = {plus, times, shift};
    unsigned me = (unsigned)(uintptr_t)arg;
    uint64_t x = me;
    for (unsigned i = 0; i < turns; i++) {
        counter++; /* ROOT CAUSE: no lock */
        x = current(x);
        if (i % 64 == me * 7)
            current = kinds[i / 64 % KINDS];
        if (i % 512 == me * 100) {
            uint32_t n = i;
            memcpy(code + 3, &n, 4);
        }
        x ^= ((function *)(uintptr_t)code)(x);
        mixed ^= x;
    }
    seen[me] = x;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    turns = argc > 1 ? (unsigned)atoi(argv[1]) : turns;
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, (const uint8_t[]){0x48, 0x8d, 0x87, 0, 0, 0, 0, 0xc3}, 8);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%lu %016lx", counter, mixed);
    for (int i = 0; i < THREADS; i++)
        printf(" %016lx", seen[i]);
    putchar('\n');
    return 0;
}
