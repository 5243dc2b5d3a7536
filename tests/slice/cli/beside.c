/* beside.c - the memory of a line of a slice was raced for earlier. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile long total, seen;
static void *add(void *arg)
{
    for (int i = 0; i < 3; i++) {
        long had = total;
        usleep(1000);
        total = had + (long)arg;
    }
    return NULL;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, (void *)1);
    pthread_create(&b, NULL, add, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (total > 100)
        puts("many");
    total = 7;
    seen = total + 1; /* ROOT CAUSE */
    return seen == 8;
}
