/* places.c - a program with named places: in itself, inlined, in a library that comes with dlopen.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two threads call step(), so that the n-th call is one over all threads. Each step prints its
 * number. The library is places_late.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 8 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int steps;
static volatile int sink;

static void say(const char *what, int i)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%s %d\n", what, i);
    if (write(1, text, (size_t)n) != n)
        abort();
}

__attribute__((noinline)) static void step(void)
{
    say("step", ++steps);
}

static inline __attribute__((always_inline)) void spliced(int i)
{
    sink = i; /* SPLICED */
    say("spliced", i);
}

static void *work(void *arg)
{
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&turn);
        step();
        pthread_mutex_unlock(&turn);
    }
    return arg;
}

int main(int argc, char *argv[])
{
    pthread_t other;
    static char digits[] = "0123456789";
    if (argc < 2 || pthread_create(&other, NULL, work, NULL))
        return 1;
    work(NULL);
    pthread_join(other, NULL);
    for (int i = 1; i <= STEPS; i++) {
        spliced(i);
        sink += (int)strspn(argv[1], digits); /* libc chooses which one it is */
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    void (*late)(int) = library ? (void (*)(int))dlsym(library, "late_step") : NULL;
    if (!late)
        return 1;
    for (int i = 1; i <= STEPS; i++)
        late(i); /* CALL */
    dlclose(library);
    return 0;
}
