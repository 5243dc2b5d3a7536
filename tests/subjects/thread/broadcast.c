/* broadcast.c - condition variables with many waiters: broadcast, signal, requeue onto a mutex. */
#include "thread/futex.h"

enum { N = 24, ROUNDS = 150 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int generation, arrived, tickets;
static long passed;

static void *worker(void *arg)
{
    pthread_mutex_lock(&m);
    for (int g = 0; g < ROUNDS; g++) {
        while (generation == g)
            pthread_cond_wait(&go, &m);
        passed++;
        if (++arrived == N)
            pthread_cond_signal(&done);
    }
    while (!tickets)
        pthread_cond_wait(&go, &m);
    tickets--;
    pthread_mutex_unlock(&m);
    return arg;
}

/* The old way of broadcasting: one is woken, the others go over to the lock's word, and each is
 * woken by the one before it. */
static int sequence, lock_word;
static long sum;

static void *requeued(void *arg)
{
    while (futex(&sequence, FUTEX_WAIT | PRIVATE, 0, NULL, NULL, 0) == -EINTR)
        ;
    while (__atomic_exchange_n(&lock_word, 2, __ATOMIC_ACQUIRE))
        futex(&lock_word, FUTEX_WAIT | PRIVATE, 2, NULL, NULL, 0);
    sum++;
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
    futex(&lock_word, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    pthread_mutex_lock(&m);
    for (int g = 0; g < ROUNDS; g++) {
        arrived = 0;
        generation++;
        pthread_cond_broadcast(&go);
        while (arrived < N)
            pthread_cond_wait(&done, &m);
    }
    pthread_mutex_unlock(&m);
    check(passed == (long)N * ROUNDS);
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        tickets++;
        pthread_mutex_unlock(&m);
        pthread_cond_signal(&go);
    }
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    check(tickets == 0);

    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, requeued, NULL);
    await_waiters(&sequence, N);
    sequence = 1;
    check(futex(&sequence, FUTEX_CMP_REQUEUE | PRIVATE, 1, COUNT(INT_MAX), &lock_word, 1) == N);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    check(sum == N);
    check(waiters(&sequence) == 0 && waiters(&lock_word) == 0);
    return 0;
}
