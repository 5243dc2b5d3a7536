/* unordered.c - a value that another thread wrote when it liked.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static int x;

static void *writer(void *arg)
{
    x = 5; /* ROOT CAUSE */
    return arg;
}

static void *reader(void *arg)
{
    int k = 0;
    while (!*(volatile int *)&x)
        sched_yield();
    k = x;
    assert(k == 0); /* FAILS */
    return arg;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
