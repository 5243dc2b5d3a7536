/* exit_group.c - one thread ends the process while others spin, sleep, or wait; status is its own.
 */
#include "subject.h"
#include <pthread.h>

static volatile unsigned long spins;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *spin(void *arg)
{
    (void)arg;
    for (;;)
        spins++;
    return NULL;
}

static void *wait_forever(void *arg)
{
    pthread_mutex_lock(&m);
    return arg;
}

static void *sleep_forever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void *leave(void *arg)
{
    while (spins < 1000)
        ;
    say("leaving\n");
    exit((int)(intptr_t)arg);
}

static void handler(void)
{
    say("atexit\n");
}

int main(int argc, char **argv)
{
    pthread_t t;
    atexit(handler);
    pthread_mutex_lock(&m);
    pthread_create(&t, NULL, spin, NULL);
    pthread_create(&t, NULL, spin, NULL);
    pthread_create(&t, NULL, wait_forever, NULL);
    pthread_create(&t, NULL, sleep_forever, NULL);
    const char *how = argc > 1 ? argv[1] : "main";
    if (!strcmp(how, "main"))
        leave((void *)21);
    pthread_create(&t, NULL, leave, (void *)22);
    if (!strcmp(how, "thread-main-spins"))
        spin(NULL);
    if (!strcmp(how, "thread-main-gone"))
        pthread_exit(NULL);
    pthread_join(t, NULL);
    return 1;
}
