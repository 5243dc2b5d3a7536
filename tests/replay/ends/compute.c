/* compute.c SECONDS - one thread that computes and writes; 1000 lines a second or so. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    unsigned long x = (unsigned long)time(NULL) * 2 + 1;
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
    dprintf(1, "process %d\n", getpid());
    for (long line = 0; time(NULL) < end; line++) {
        for (int i = 0; i < 200000; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        dprintf(1, "line %ld: %016lx\n", line, x);
    }
    dprintf(1, "done\n");
    return 5;
}
