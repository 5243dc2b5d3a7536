/* stopped.c - counts a second or two in small steps, for somebody to stop and continue it; says so
 * if it is told of that. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t continued;
static volatile unsigned long counter;

static void on_cont(int sig)
{
    continued = sig;
}

int main(void)
{
    struct timespec ts = {0, 5000000};
    signal(SIGCONT, on_cont);
    dprintf(1, "ready %d\n", getpid());
    for (int i = 0; i < 400 && !continued; i++) {
        for (int n = 0; n < 20000; n++)
            counter++;
        nanosleep(&ts, NULL);
    }
    dprintf(1, "continued by %d, counter %lu\n", (int)continued, counter);
    return continued ? 31 : 32;
}
