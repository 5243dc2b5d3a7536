/* events_threads.c - threads that wait for each other. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static int gate[2], done[2];

static void *worker(void *arg)
{
    char c;
    prctl(PR_SET_NAME, "worker");
    read(gate[0], &c, 1);
    write(done[1], "d", 1);
    return arg;
}

int main(void)
{
    pthread_t t;
    char c;
    pipe(gate);
    pipe(done);
    pthread_create(&t, NULL, worker, NULL);
    write(gate[1], "g", 1);
    read(done[0], &c, 1);
    pthread_join(t, NULL);
    puts("joined");
    return 0;
}
