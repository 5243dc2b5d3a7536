/* threads.c - three threads take turns, with thread-local variables. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3 };

__thread int own = 100;
static __thread long mine;
int shared, rounds = 200;
int visits[THREADS + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;

__attribute__((noinline)) static void visit(int number)
{
    pthread_mutex_lock(&lock);
    shared = shared + 1; /* SHARED */
    visits[number]++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    int number = (int)(long)arg;
    char name[16];
    snprintf(name, sizeof name, "worker-%d", number);
    pthread_setname_np(pthread_self(), name);
    own += number; /* OWN */
    mine = own * 2L;
    pthread_barrier_wait(&together);
    for (int i = 0; i < rounds; i++)
        visit(number);               /* WORKS */
    pthread_barrier_wait(&together); /* WORKED */
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    if (argc > 1)
        rounds = atoi(argv[1]);
    pthread_barrier_init(&together, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("shared %d\n", shared); /* JOINED */
    return shared == THREADS * rounds ? 0 : 1;
}
