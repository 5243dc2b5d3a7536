/* deadlock.c - two threads that wait for each other for sure, and a third that watches. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *other(void *arg)
{
    pthread_mutex_lock(&b);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&a); /* ROOT CAUSE */
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t, NULL, other, NULL);
    pthread_mutex_lock(&a);
    dprintf(1, "process %d\n", getpid());
    pthread_barrier_wait(&both);
    dprintf(1, "now it hangs\n");
    pthread_mutex_lock(&b);
    dprintf(1, "never\n");
    return 0;
}
