/* handler.c - a thread counts its jobs, and so does its handler of a signal that another thread
 * sends. SPDX-License-Identifier: MIT */
#include <signal.h>

#include "subject.h"

static int jobs;
static pthread_t worker;

static void more(int sig)
{
    (void)sig;
    SET(jobs, GET(jobs) + 1);
}

static void *work(void *arg)
{
    sigset_t usr;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    for (int i = 0; i < 3; i++) {
        FIX(pthread_sigmask(SIG_BLOCK, &usr, NULL);)
        int j = GET(jobs);
        SET(jobs, j + 1); /* ROOT CAUSE */
        FIX(pthread_sigmask(SIG_UNBLOCK, &usr, NULL);)
    }
    return arg;
}

static void *send(void *arg)
{
    pthread_kill(worker, SIGUSR1);
    return arg;
}

int main(void)
{
    pthread_t sender;
    struct sigaction act = {.sa_handler = more};
    sigaction(SIGUSR1, &act, NULL);
    worker = pthread_self();
    if (pthread_create(&sender, NULL, send, NULL))
        return 77;
    work(NULL);
    pthread_join(sender, NULL);
    CHECK(jobs == 4);
    return 0;
}
