/* parts.c - threads that are joined, a block that is lost, and, if there is an argument, another
 * program in its place. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int total;
static void *volatile lost;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *arg)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        total += *(int *)arg;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(int argc, char *argv[])
{
    int one = argc;
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, run, &one);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    lost = malloc(33);
    lost = NULL;
    printf("%d\n", total);
    fflush(stdout);
    if (argc > 1)
        execl(argv[0], argv[0], (char *)NULL);
    return 0;
}
