/* robust.c - a robust mutex whose owner ends: EOWNERDEAD, consistent again, or ENOTRECOVERABLE. */
#include "subject.h"
#include <pthread.h>

static pthread_mutex_t m;
static pthread_mutex_t many[20];

static void *lock_and_leave(void *arg)
{
    pthread_mutex_lock(&m);
    for (int i = 0; i < 20; i++)
        pthread_mutex_lock(&many[i]);
    if (arg)
        syscall(SYS_exit, 0);
    return NULL;
}

static void *wait_for_dead(void *arg)
{
    (void)arg;
    int r = pthread_mutex_lock(&m);
    say("waiter: %s\n", r == EOWNERDEAD ? "owner died" : "FAIL");
    pthread_mutex_consistent(&m);
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *hold_then_leave(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_barrier_wait(arg);
    sleep_ms(20);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &a);
    for (int i = 0; i < 20; i++)
        pthread_mutex_init(&many[i], &a);
    pthread_t t, w;
    pthread_create(&t, NULL, lock_and_leave, NULL);
    pthread_join(t, NULL);
    check(pthread_mutex_lock(&m) == EOWNERDEAD);
    int dead = 0;
    for (int i = 0; i < 20; i++)
        dead += pthread_mutex_trylock(&many[i]) == EOWNERDEAD;
    check(dead == 20);
    check(pthread_mutex_consistent(&m) == 0 && pthread_mutex_unlock(&m) == 0);
    pthread_barrier_t held;
    pthread_barrier_init(&held, NULL, 2);
    pthread_create(&t, NULL, hold_then_leave, &held);
    pthread_barrier_wait(&held);
    pthread_create(&w, NULL, wait_for_dead, NULL);
    pthread_join(t, NULL);
    pthread_join(w, NULL);
    check(pthread_mutex_lock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
    for (int i = 0; i < 20; i++)
        pthread_mutex_unlock(&many[i]);
    check(pthread_mutex_lock(&many[3]) == ENOTRECOVERABLE);
    return 0;
}
