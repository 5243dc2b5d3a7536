/* exits.c - a program ends while its threads run. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 2, ENOUGH = 3000 };

atomic_int started;
volatile unsigned long spins[THREADS];

__attribute__((noinline)) static void spin(int number)
{
    spins[number]++; /* SPINS */
}

static void *work(void *arg)
{
    started++;
    for (;;)
        spin((int)(long)arg);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, work, (void *)i);
    while (started < THREADS || spins[0] < ENOUGH || spins[1] < ENOUGH)
        ;
    exit(4); /* EXITS */
}
