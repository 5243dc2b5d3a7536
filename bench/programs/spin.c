/* spin.c - threads that wait for each other by looking again and again.
 * SPDX-License-Identifier: MIT
 *
 * spin HOW THREADS ROUNDS; HOW: barrier (every thread waits for all others in each round), ticket
 * (a lock that is given away in order, once around in each round), lock (test-and-set; the work is
 * the same whoever does it), wait (all but one look at a flag while that one sleeps ROUNDS ms),
 * yield (the same, by sched_yield). Reports us_per_round, without start-up, on standard error. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, LOCK_WORK = 300 };

static int threads, rounds;
static unsigned arrived, phase; /* barrier */
static unsigned next_ticket, serving;
static unsigned locked, stop;
static unsigned long shared;

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1e6 * (double)ts.tv_sec + 1e-3 * (double)ts.tv_nsec;
}

static void barrier(void)
{
    unsigned at = __atomic_load_n(&phase, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == (unsigned)threads) {
        __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&phase, at + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == at)
        ;
}

static void by_barrier(void)
{
    for (int i = 0; i < rounds; i++)
        barrier();
}

/* A thread takes its next ticket while it holds the lock: all queue up, as under full load. */
static void by_ticket(void)
{
    unsigned mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
    barrier();
    for (int i = 0; i < rounds; i++) {
        while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine)
            ;
        shared++;
        unsigned next = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&serving, mine + 1, __ATOMIC_RELEASE);
        mine = next;
    }
}

static void by_lock(void)
{
    for (int i = 0; i < rounds / threads; i++) {
        while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
            ;
        unsigned long x = shared;
        for (int k = 0; k < LOCK_WORK; k++)
            x = x * 6364136223846793005ul + 1442695040888963407ul;
        shared = x;
        __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
    }
}

static void by_flag(void)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        ;
}

static void by_yield(void)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        sched_yield();
}

static const struct {
    const char *name;
    void (*run)(void);
} way[] = {{"barrier", by_barrier},
           {"ticket", by_ticket},
           {"lock", by_lock},
           {"wait", by_flag},
           {"yield", by_yield}};

static void *start(void *run)
{
    barrier();
    (*(void (**)(void))run)();
    barrier();
    return NULL;
}

int main(int argc, char *argv[])
{
    pthread_t thread[MOST];
    void (*run)(void) = NULL;
    if (argc != 4)
        return 2;
    for (size_t i = 0; i < sizeof way / sizeof *way; i++)
        if (!strcmp(argv[1], way[i].name))
            run = way[i].run;
    threads = atoi(argv[2]);
    rounds = atoi(argv[3]);
    if (!run || threads < 2 || threads > MOST)
        return 2;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, start, &run))
            return 1;
    barrier();
    double began = now_us();
    if (run == by_flag || run == by_yield) {
        struct timespec ts = {rounds / 1000, rounds % 1000 * 1000000l};
        nanosleep(&ts, NULL);
        __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    } else {
        run();
    }
    barrier();
    fprintf(stderr, "us_per_round=%.3f\n", (now_us() - began) / rounds);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%lu\n", run == by_flag || run == by_yield ? 0 : shared);
    return 0;
}
