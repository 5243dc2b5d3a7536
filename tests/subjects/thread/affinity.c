/* affinity.c - sched_setaffinity, getcpu and rseq agree: a pinned thread sees its own CPU. */
#include "subject.h"
#include <pthread.h>
#include <sched.h>

static void *pinned(void *arg)
{
    cpu_set_t all, one;
    int good = 0, tried = 0;
    (void)arg;
    sched_getaffinity(0, sizeof all, &all);
    for (int c = 0; c < CPU_SETSIZE && tried < 4; c++) {
        if (!CPU_ISSET(c, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(c, &one);
        tried++;
        if (sched_setaffinity(0, sizeof one, &one) == 0)
            good += sched_getcpu() == c;
    }
    return (void *)(long)(tried == good);
}

int main(void)
{
    pthread_t t;
    void *r;
    check(pinned(NULL));
    pthread_create(&t, NULL, pinned, NULL);
    pthread_join(t, &r);
    check(r != NULL);
    return 0;
}
