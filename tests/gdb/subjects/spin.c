/* spin.c - runs for a while: something to interrupt. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

unsigned long rounds;
unsigned long sink[64];

__attribute__((noinline)) static void work(unsigned long i)
{
    sink[i % 64] += i;
    rounds = i;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    for (unsigned long i = 1; i <= n; i++)
        work(i); /* ROUND */
    printf("rounds %lu\n", rounds);
    return 0;
}
