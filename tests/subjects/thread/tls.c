/* tls.c - 64 threads at once, each with TLS of several models, keys with destructors. */
#include "subject.h"
#include <pthread.h>

enum { N = 64 };
static __thread int counter = 1000;
static __thread char block[3000];
static pthread_key_t key;
static pthread_barrier_t all_here;
static int destroyed;

static void destroy(void *p)
{
    __atomic_add_fetch(&destroyed, *(int *)p, __ATOMIC_SEQ_CST);
    free(p);
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    int *mine = malloc(sizeof *mine);
    *mine = me;
    pthread_setspecific(key, mine);
    memset(block, me, sizeof block);
    errno = me;
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < 1000; i++)
        counter += me;
    long good = errno == me && counter == 1000 + 1000 * me && pthread_getspecific(key) == mine;
    for (size_t i = 0; i < sizeof block; i++)
        good &= block[i] == (char)me;
    return (void *)good;
}

int main(void)
{
    pthread_t t[N];
    int good = 0;
    pthread_key_create(&key, destroy);
    pthread_barrier_init(&all_here, NULL, N);
    for (int i = 0; i < N; i++)
        if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)i))
            say("create FAIL\n");
    for (int i = 0; i < N; i++) {
        void *r;
        pthread_join(t[i], &r);
        good += (int)(intptr_t)r;
    }
    say("%d of %d threads good, destructors gave %d\n", good, N, destroyed);
    check(counter == 1000);
    return 0;
}
