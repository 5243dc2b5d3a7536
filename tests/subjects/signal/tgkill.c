/* tgkill.c - signals sent to one thread run there, each once, in running and in blocked threads. */
#include "subject.h"
#include <pthread.h>
#include <semaphore.h>

enum { N = 4, EACH = 500 };
static pid_t tids[N];
static volatile int got[N], wrong;
static sem_t acked;
static volatile int stop;
static __thread int me = -1;

static void count(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    if (me < 0 || gettid() != tids[me])
        wrong++;
    else
        got[me]++;
    sem_post(&acked);
}

static void *work(void *arg)
{
    me = (int)(intptr_t)arg;
    __atomic_store_n(&tids[me], gettid(), __ATOMIC_SEQ_CST);
    while (!stop)
        if (me % 2)
            usleep(200000);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    sem_init(&acked, 0, 0);
    on_signal(SIGUSR1, count, 0);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < N; i++)
        while (!__atomic_load_n(&tids[i], __ATOMIC_SEQ_CST))
            sched_yield();
    for (int i = 0; i < N * EACH; i++) {
        if (i % N % 2 == 0 && i >= 40)
            continue;
        syscall(SYS_tgkill, getpid(), tids[i % N], SIGUSR1);
        while (sem_wait(&acked))
            ;
    }
    stop = 1;
    for (int i = 0; i < N; i++)
        pthread_kill(t[i], SIGUSR1);
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        check(got[i] >= (i % 2 ? EACH : 10));
    }
    say("wrong %d\n", wrong);
    return 0;
}
