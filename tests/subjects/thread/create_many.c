/* create_many.c - threads that make threads, detached ones, 1500 one after another, own stacks. */
#include "subject.h"
#include <pthread.h>
#include <semaphore.h>

static int count;
static sem_t done;

static void *tree(void *arg)
{
    long depth = (long)arg;
    __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (depth == 0)
        return NULL;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, tree, (void *)(depth - 1));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return NULL;
}

static void *detached(void *arg)
{
    __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    sem_post(&done);
    return arg;
}

static void *on_own_stack(void *arg)
{
    char here;
    return (void *)(intptr_t)(&here > (char *)arg && &here < (char *)arg + 65536);
}

int main(void)
{
    pthread_t t;
    pthread_attr_t a;
    tree((void *)4);
    say("tree of %d\n", count);
    count = 0;
    sem_init(&done, 0, 0);
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 200; i++) {
        while (pthread_create(&t, &a, detached, NULL))
            sched_yield();
        if (i % 8 == 7)
            for (int k = 0; k < 8; k++)
                sem_wait(&done);
    }
    say("detached %d\n", count);
    for (int i = 0; i < 1500; i++) {
        void *r;
        pthread_create(&t, NULL, detached, (void *)(long)i);
        pthread_join(t, &r);
        if (r != (void *)(long)i)
            say("FAIL %d\n", i);
    }
    say("one after another %d\n", count);
    void *stack = map_anon(65536, PROT_READ | PROT_WRITE), *r;
    pthread_attr_init(&a);
    pthread_attr_setstack(&a, stack, 65536);
    pthread_create(&t, &a, on_own_stack, stack);
    pthread_join(t, &r);
    check(r == (void *)1);
    return 0;
}
