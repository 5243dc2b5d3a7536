/* thread_index.c - each thread is given the address of the loop's variable instead of its own
 * number.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4
#define PART    50

static int data[THREADS * PART];
static long part_sum[THREADS + 1];

static void attach(int number)
{
    (void)number;
    usleep(1000);
}

static long sum_of(const int *from, int count)
{
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += from[i];
    return sum;
}

static void *work(void *arg)
{
    attach(0);
    int number = *(int *)arg;
    if (number < THREADS)
        part_sum[number] = sum_of(data + number * PART, PART);
    return NULL;
}

static void fill(void)
{
    for (int i = 0; i < THREADS * PART; i++)
        data[i] = i % 17;
}

int main(void)
{
    pthread_t thread[THREADS];
    int numbers[THREADS], i;
    fill();
    for (i = 0; i < THREADS; i++) {
        numbers[i] = i;
#ifdef FIXED
        pthread_create(&thread[i], NULL, work, &numbers[i]);
#else
        pthread_create(&thread[i], NULL, work, &i); /* ROOT CAUSE */
#endif
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    long sum = 0;
    for (int k = 0; k < THREADS; k++)
        sum += part_sum[k];
    printf("%ld, %d\n", sum, numbers[3]);
    assert(sum == sum_of(data, THREADS * PART));
    return 0;
}
