/* walkone.c - ten seconds of work to walk in: walkone ROUNDS. SPDX-License-Identifier: MIT
 *
 * A round sorts, hashes and calls; some functions are there for breakpoints.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1 << 14, TABLE = 1 << 16, SMALL_STEPS = 63 };

uint64_t rounds_done; /* watched: written in each round */
uint64_t finished;    /* watched: written once */
static uint64_t sum;
static uint32_t item[ITEMS];
static uint64_t table[TABLE];

__attribute__((noinline)) void never(void)
{
    puts("never");
}

/* Called SMALL_STEPS times in each round. */
__attribute__((noinline)) uint64_t small_step(uint64_t n)
{
    return n * 2862933555777941757ull + 3037000493ull;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

__attribute__((noinline)) void sort_items(uint64_t seed)
{
    for (int i = 0; i < ITEMS; i++)
        item[i] = (uint32_t)((seed = seed * 6364136223846793005ull + (uint64_t)i) >> 32);
    qsort(item, ITEMS, sizeof *item, compare);
}

__attribute__((noinline)) void hash_items(void)
{
    for (int turn = 0; turn < 100; turn++)
        for (int i = 0; i < ITEMS; i++) {
            uint64_t h = (item[i] + (uint64_t)turn) * 0x9e3779b97f4a7c15ull;
            table[h >> 48] += h;
            sum ^= table[(h >> 20) % TABLE];
        }
}

__attribute__((noinline)) void round_done(uint64_t n)
{
    for (int i = 0; i < SMALL_STEPS; i++)
        sum += small_step(n);
    rounds_done = n;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    for (uint64_t n = 1; n <= rounds; n++) {
        sort_items(n);
        hash_items();
        round_done(n);
    }
    printf("%llu\n", (unsigned long long)sum);
    finished = rounds_done;
    if (finished != rounds)
        never();
    return 0;
}
