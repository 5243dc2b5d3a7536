/* sync_stress.c - barriers, semaphores, rwlocks, mutexes and once under many threads. */
#include "subject.h"
#include <pthread.h>
#include <semaphore.h>

enum { N = 16, ROUNDS = 300 };
static pthread_barrier_t barrier;
static sem_t room, items;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long serial, torn, produced, consumed, counter, pair[2];

static void at_barrier(int me)
{
    static long cell[N];
    for (int i = 0; i < ROUNDS; i++) {
        cell[me] = i;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&serial, 1, __ATOMIC_SEQ_CST);
        for (int k = 0; k < N; k++)
            if (cell[k] != i)
                __atomic_add_fetch(&torn, 1, __ATOMIC_SEQ_CST);
        pthread_barrier_wait(&barrier);
    }
}

static void through_semaphores(int me)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (me % 2) {
            sem_wait(&room);
            __atomic_add_fetch(&produced, i, __ATOMIC_SEQ_CST);
            sem_post(&items);
        } else {
            sem_wait(&items);
            __atomic_add_fetch(&consumed, i, __ATOMIC_SEQ_CST);
            sem_post(&room);
        }
    }
}

static void under_rwlock(int me)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 == me % 8) {
            pthread_rwlock_wrlock(&rw);
            pair[0]++;
            sched_yield();
            pair[1]++;
        } else {
            pthread_rwlock_rdlock(&rw);
            if (pair[0] != pair[1])
                __atomic_add_fetch(&torn, 1, __ATOMIC_SEQ_CST);
        }
        pthread_rwlock_unlock(&rw);
    }
}

static void under_mutex(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&m);
        long c = counter;
        if (i % 16 == 0)
            sched_yield();
        counter = c + 1;
        pthread_mutex_unlock(&m);
    }
}

static void *run(void *arg)
{
    int me = (int)(intptr_t)arg;
    at_barrier(me);
    through_semaphores(me);
    under_rwlock(me);
    under_mutex();
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    pthread_barrier_init(&barrier, NULL, N);
    sem_init(&room, 0, 3);
    sem_init(&items, 0, 0);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    check(serial == ROUNDS);
    check(torn == 0);
    check(produced == consumed && produced == (long)N / 2 * ROUNDS * (ROUNDS - 1) / 2);
    check(pair[0] == pair[1]);
    check(counter == (long)N * ROUNDS);
    int left;
    check(sem_getvalue(&room, &left) == 0 && left == 3);
    return 0;
}
