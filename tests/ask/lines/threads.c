/* threads.c - the same line in several threads, with variables of their own.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>

struct job {
    int number;
    const char *name;
    double weight;
};
static __thread int mine;
static __thread struct job current = {-1, "nobody", 0.5};
static _Thread_local char scratch[8];
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void step(struct job *j, int round)
{
    pthread_mutex_lock(&lock);
    mine += round;
    shared += j->number;
    current = *j;
    snprintf(scratch, sizeof scratch, "%d.%d", j->number, round);
    current.weight *= round; /* LOOK 1 */
    pthread_mutex_unlock(&lock);
}

static void *run(void *arg)
{
    struct job *j = arg;
    for (int round = 0; round < 5; round++)
        step(j, round); /* LOOK 2 */
    return NULL;
}

int main(void)
{
    pthread_t thread[3];
    static struct job jobs[3] = {{1, "one", 1.5}, {2, "two", 0.25}, {3, NULL, 3}};
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, run, &jobs[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL); /* LOOK 3 */
    printf("%d\n", shared);
    return 0;
}
