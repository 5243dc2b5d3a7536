/* walkfour.c - work for four threads to walk in: walkfour ROUNDS [TURNS]. SPDX-License-Identifier:
 * MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ITEMS = 1 << 15 };

uint64_t rounds_done; /* watched: written in each round */
uint64_t finished;    /* watched: written once */
static uint64_t rounds, turns = 8 * ITEMS, sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void never(void)
{
    puts("never");
}

__attribute__((noinline)) void round_done(uint64_t value)
{
    pthread_mutex_lock(&lock);
    sum += value;
    rounds_done++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    uint64_t *table = calloc(ITEMS, sizeof *table), h = (uintptr_t)arg, value = 0;
    for (uint64_t n = 0; n < rounds; n++) {
        for (uint64_t i = 0; i < turns; i++) {
            h = h * 6364136223846793005ull + 1442695040888963407ull;
            table[h >> 49] += h;
            value ^= table[(h >> 20) % ITEMS];
        }
        round_done(value);
    }
    free(table);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    if (argc > 2)
        turns = strtoull(argv[2], NULL, 10);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    finished = rounds_done;
    if (finished != THREADS * rounds)
        never();
    return 0;
}
