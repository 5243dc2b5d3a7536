/* interrupted.c [handler] - counts until SIGINT: handled, or deadly. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long counter, caught_at;
static volatile sig_atomic_t caught;

static void on_int(int sig)
{
    caught_at = counter;
    caught = sig;
}

int main(int argc, char **argv)
{
    struct timespec ts = {0, 1000000};
    if (argc > 1 && !strcmp(argv[1], "handler"))
        signal(SIGINT, on_int);
    dprintf(1, "ready %d\n", getpid());
    for (int i = 0; i < 20000 && !caught; i++) {
        for (int n = 0; n < 10000 && !caught; n++)
            counter++;
        if (i % 50 == 0)
            nanosleep(&ts, NULL);
    }
    dprintf(1, "signal %d at %lu, counter %lu\n", (int)caught, caught_at, counter);
    return caught ? 21 : 22;
}
