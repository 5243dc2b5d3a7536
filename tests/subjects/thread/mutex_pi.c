/* mutex_pi.c - a priority-inheriting mutex (PI futexes) counts right under contention. */
#include "subject.h"
#include <pthread.h>

static pthread_mutex_t m;
static int total;

static void *work(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&m);
        int t = total;
        if (i % 500 == 0)
            sched_yield();
        total = t + 1;
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_mutexattr_t a;
    pthread_t t[4];
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&m, &a);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    say("total %d\n", total);
    return 0;
}
