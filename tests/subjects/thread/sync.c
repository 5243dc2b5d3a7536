/* sync.c - condition variables, barriers, rwlocks, semaphores, once: counts and orders come out. */
#include "subject.h"
#include <pthread.h>
#include <semaphore.h>

enum { N = 8, ROUNDS = 300 };
static int rounds; /* of each kind */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t items, room;
static int turn, serials, torn, shared[2], queue[4], head, tail, consumed;

static void say_once(void)
{
    say("once\n");
}

static void take_turns(int me)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&m);
        while (turn % N != me)
            pthread_cond_wait(&c, &m);
        turn++;
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
    }
}

static void read_write(int me)
{
    for (int i = 0; i < rounds; i++) {
        if (me == 0) {
            pthread_rwlock_wrlock(&rw);
            shared[0]++;
            shared[1]++;
        } else {
            pthread_rwlock_rdlock(&rw);
            if (shared[0] != shared[1])
                __atomic_add_fetch(&torn, 1, __ATOMIC_RELAXED);
        }
        pthread_rwlock_unlock(&rw);
    }
}

static void produce_consume(int me)
{
    for (int i = 0; i < rounds; i++) {
        sem_wait(me % 2 ? &items : &room);
        pthread_mutex_lock(&m);
        if (me % 2)
            consumed += queue[head++ % 4];
        else
            queue[tail++ % 4] = i;
        pthread_mutex_unlock(&m);
        sem_post(me % 2 ? &room : &items);
    }
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    pthread_once(&once, say_once);
    take_turns(me);
    for (int i = 0; i < rounds; i++)
        if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD)
            serials++;
    read_write(me);
    produce_consume(me);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    rounds = subject_rounds(ROUNDS);
    pthread_barrier_init(&bar, NULL, N);
    sem_init(&items, 0, 0);
    sem_init(&room, 0, 4);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    say("turns %d, serial threads %d, torn reads %d, writes %d, consumed %d\n", turn, serials, torn,
        shared[0], consumed);
    return 0;
}
