/* raced_counter.c - two threads add to a counter, and one addition is lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static long written, noise;
static sem_t read_it, added;

static void *early(void *arg)
{
    long now = written, got = 0;
    sem_post(&read_it);
    sem_wait(&added);
    for (int i = 0; i < 3; i++)
        got += 100 + i;
    written = now + got; /* ROOT CAUSE */
    return arg;
}

static void *late(void *arg)
{
    sem_wait(&read_it);
    for (int i = 0; i < 4; i++)
        noise += i; /* UNRELATED */
    written += 500;
    sem_post(&added);
    return arg;
}

int main(void)
{
    pthread_t one, two;
    sem_init(&read_it, 0, 0);
    sem_init(&added, 0, 0);
    pthread_create(&one, NULL, early, NULL);
    pthread_create(&two, NULL, late, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%ld bytes\n", noise);
    assert(written == 803); /* CRASH */
    return 0;
}
