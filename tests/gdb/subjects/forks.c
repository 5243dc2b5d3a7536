/* forks.c - makes child processes in several ways, and a thread. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL); /* NO CHILD */
    pthread_join(thread, NULL);
    pid_t first = fork(); /* FORKS */
    if (first == 0)
        _exit(3);
    int status;
    waitpid(first, &status, 0); /* FORKED */
    pid_t second = vfork();     /* VFORKS */
    if (second == 0)
        _exit(4);
    waitpid(second, &status, 0); /* VFORKED */
    pid_t third = fork();        /* FORKS AGAIN */
    if (third == 0)
        _exit(5);
    waitpid(third, &status, 0); /* DONE */
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
