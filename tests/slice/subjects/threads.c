/* threads.c - values that pass between threads: locks, conditions, pipes, thread-local memory.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int box, full, ends[2];
static __thread int mine = 5;

static void *produce(void *arg)
{
    int *seed = arg;
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&changed, &lock);
        mine = mine * 3 + *seed;
        box = mine;
        full = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    if (write(ends[1], &mine, sizeof mine) < 0)
        perror("write");
    return malloc((size_t)*seed + 10);
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    int seed[2] = {argc, argc + 6}, sum = 0, told = 0;
    void *result;
    (void)argv;
    if (pipe(ends) < 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, produce, &seed[i]);
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        while (!full)
            pthread_cond_wait(&changed, &lock);
        sum = sum * 7 + box;
        full = 0;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++) {
        int part;
        if (read(ends[0], &part, sizeof part) == sizeof part)
            told += part;
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &result);
        free(result);
    }
    printf("%d %d\n", sum != 0, told + mine);
    return 0;
}
