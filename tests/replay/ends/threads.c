/* threads.c SECONDS - four threads that compute, take a lock and write. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long shared; /* without a lock, on purpose */
static time_t end;
static long lines;

static void *run(void *arg)
{
    while (time(NULL) < end) {
        for (int i = 0; i < 30000; i++)
            shared = shared * 31 + (unsigned long)arg;
        pthread_mutex_lock(&lock);
        dprintf(1, "line %ld of thread %ld: %016lx\n", lines++, (long)arg, shared);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[4];
    end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
    dprintf(1, "process %d\n", getpid());
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    dprintf(1, "done\n");
    return 5;
}
