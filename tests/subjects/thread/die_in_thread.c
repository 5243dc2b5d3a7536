/* die_in_thread.c - a thread dies by a signal's default action while others run: all end by it. */
#include "subject.h"
#include <pthread.h>

static volatile int go;

static void *spin(void *arg)
{
    (void)arg;
    for (;;)
        go = 1;
    return NULL;
}

static void *die(void *arg)
{
    while (!go)
        ;
    say("dying\n");
    if (strcmp(arg, "segv") == 0)
        *(volatile int *)16 = 1;
    if (strcmp(arg, "abort") == 0)
        abort();
    if (strcmp(arg, "ill") == 0)
        __builtin_trap();
    raise(SIGTERM);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, spin, NULL);
    pthread_create(&t, NULL, die, argc > 1 ? argv[1] : NULL);
    for (;;)
        go = 1;
}
