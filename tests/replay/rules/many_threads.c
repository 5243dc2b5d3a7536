/* many_threads.c - threads come and go by the hundred; each has its own number, stack and value. */
#include "rule.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t order;
static __thread uint64_t mine;

static void *thread(void *arg)
{
    mine = now_ns() + (uint64_t)gettid();
    pthread_mutex_lock(&lock);
    order = order * 31 + (uint64_t)(long)arg + mine + (uintptr_t)&mine;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 15; round++) {
        pthread_t t[20];
        for (long i = 0; i < 20; i++)
            t[i] = start(thread, (void *)(round * 20 + i));
        for (int i = 0; i < 20; i++)
            pthread_join(t[i], NULL);
    }
    say("order %016lx\n", order);
    return 0;
}
