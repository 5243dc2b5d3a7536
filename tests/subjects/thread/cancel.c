/* cancel.c - pthread_cancel: deferred in blocking calls, asynchronous in a loop, cleanup handlers.
 */
#include "subject.h"
#include <pthread.h>

static volatile unsigned long spins;
static int p[2];
static volatile int ready;

static void cleanup(void *what)
{
    say("cleanup %s\n", (const char *)what);
}

static void *in_read(void *arg)
{
    char c;
    pthread_cleanup_push(cleanup, arg);
    pthread_cleanup_push(cleanup, "inner");
    ready = 1;
    read(p[0], &c, 1);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_loop(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(cleanup, arg);
    ready = 1;
    for (;;)
        spins++;
    pthread_cleanup_pop(0);
    return NULL;
}

static void *disabled(void *arg)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    ready = 1;
    sleep_ms(30);
    say("survived %s\n", (const char *)arg);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_testcancel();
    say("FAIL after testcancel\n");
    return NULL;
}

static void *in_cond(void *arg)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_cleanup_push(cleanup, arg);
    pthread_mutex_lock(&m);
    ready = 1;
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return NULL;
}

static void run(const char *name, void *(*fn)(void *))
{
    pthread_t t;
    void *r;
    ready = 0;
    pthread_create(&t, NULL, fn, (void *)name);
    while (!ready)
        sched_yield();
    pthread_cancel(t);
    pthread_join(t, &r);
    say("%s: %s\n", name, r == PTHREAD_CANCELED ? "cancelled" : "FAIL");
}

int main(void)
{
    if (pipe(p))
        return 1;
    run("read", in_read);
    run("loop", in_loop);
    run("disabled", disabled);
    run("cond", in_cond);
    return 0;
}
