/* called.c - functions for a debugger to call: some write memory that they return, some raise
 * signals. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int n, caught;
static char text[32] = "as recorded";
static pthread_barrier_t together;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) int tick(void)
{
    return ++n; /* TICKS */
}

__attribute__((noinline)) const char *describe(int number)
{
    snprintf(text, sizeof text, "number %d", number);
    return text;
}

__attribute__((noinline)) int length(const char *of)
{
    return (int)strlen(of);
}

__attribute__((noinline)) int nested(int depth)
{
    n += 100; /* NESTED */
    return depth + n;
}

__attribute__((noinline)) int raises(int sig)
{
    raise(sig);
    return caught;
}

__attribute__((noinline)) int faults(void)
{
    return *(volatile int *)8;
}

__attribute__((noinline)) int locks(void)
{
    pthread_mutex_lock(&held);
    return 1;
}

static void on_signal(int sig)
{
    caught += sig; /* HANDLER */
}

static void *work(void *arg)
{
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&held);
    signal(SIGUSR1, on_signal);
    signal(SIGURG, on_signal);
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&together); /* BEGUN */
    int length_then = length(text);  /* HERE */
    pthread_barrier_wait(&together); /* NEXT */
    pthread_join(thread, NULL);
    if (length_then < 0)
        return tick() + length(describe(n)) + nested(1) + raises(SIGURG) + locks() + faults();
    printf("%d %s\n", length_then, text);
    return 0;
}
