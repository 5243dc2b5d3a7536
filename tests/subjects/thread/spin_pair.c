/* spin_pair.c - threads that wait for each other by spinning without yielding make progress. */
#include "subject.h"
#include <pthread.h>

enum { ROUNDS = 15 };
static volatile int turn;
static volatile int flag[2], victim, inside, collisions;

static void *ping(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (turn % 3 != me)
            if (me == 1)
                __builtin_ia32_pause();
        turn++;
    }
    return NULL;
}

static void *peterson(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < 20000; i++) {
        flag[me] = 1;
        victim = me;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        while (flag[!me] && victim == me)
            ;
        if (++inside != 1)
            collisions++;
        inside--;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        flag[me] = 0;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, ping, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say("turns %d\n", turn);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, peterson, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    say("collisions %d\n", collisions);
    return 0;
}
