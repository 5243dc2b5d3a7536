/* mutex_kinds.c - recursive, error-checking and timed locks; condition and semaphore time-outs. */
#include "subject.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static struct timespec soon(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    ts.tv_nsec += 20000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000;
    }
    return ts;
}

static void *try_timed(void *arg)
{
    struct timespec ts = soon(CLOCK_REALTIME);
    return (void *)(intptr_t)pthread_mutex_timedlock(arg, &ts);
}

static int in_thread(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    void *r;
    pthread_create(&t, NULL, fn, arg);
    pthread_join(t, &r);
    return (int)(intptr_t)r;
}

int main(void)
{
    pthread_mutexattr_t a;
    pthread_mutex_t rec, err;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&rec, &a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&err, &a);
    check(pthread_mutex_lock(&rec) == 0 && pthread_mutex_lock(&rec) == 0);
    check(in_thread(try_timed, &rec) == ETIMEDOUT);
    check(pthread_mutex_unlock(&rec) == 0 && pthread_mutex_unlock(&rec) == 0);
    check(in_thread(try_timed, &rec) == 0);
    check(pthread_mutex_unlock(&err) == EPERM);
    check(pthread_mutex_lock(&err) == 0 && pthread_mutex_lock(&err) == EDEADLK);
    struct timespec ts = soon(CLOCK_REALTIME);
    pthread_mutex_lock(&m);
    check(pthread_cond_timedwait(&c, &m, &ts) == ETIMEDOUT);
    ts = soon(CLOCK_MONOTONIC);
    check(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &ts) == ETIMEDOUT);
    ts.tv_nsec = -1;
    check(pthread_cond_timedwait(&c, &m, &ts) == EINVAL);
    pthread_mutex_unlock(&m);
    sem_t s;
    sem_init(&s, 0, 0);
    ts = soon(CLOCK_REALTIME);
    check(sem_timedwait(&s, &ts) == -1 && errno == ETIMEDOUT);
    check(sem_trywait(&s) == -1 && errno == EAGAIN);
    return 0;
}
