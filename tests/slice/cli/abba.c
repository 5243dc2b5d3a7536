/* abba.c - two threads take two locks in different orders, and wait for each other until an alarm
 * ends them. With an argument `self`, one takes a lock twice; with `none`, nobody waits for a lock.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int unused;
    pthread_mutex_t lock;
} account[3];
static pthread_barrier_t both;
static int unrelated;

static void *forth(void *arg)
{
    unrelated = 3;              /* UNRELATED */
    pthread_mutex_lock(&first); /* TAKES FIRST */
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&account[2].lock); /* WAITS FOR SECOND */
    return arg;
}

static void *back(void *arg)
{
    pthread_mutex_lock(&account[2].lock); /* TAKES SECOND */
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&first); /* WAITS FOR FIRST */
    return arg;
}

static void *self(void *arg)
{
    pthread_mutex_lock(&first); /* TAKES */
    unrelated++;
    pthread_mutex_lock(&first); /* TAKES AGAIN */
    return arg;
}

int main(int argc, char **argv)
{
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    pthread_t a, b;
    pthread_mutex_init(&account[2].lock, NULL);
    pthread_barrier_init(&both, NULL, 2);
    setitimer(ITIMER_REAL, &soon, NULL);
    if (argc > 1 && strcmp(argv[1], "none") == 0)
        for (;;)
            pause();
    if (argc > 1 && strcmp(argv[1], "self") == 0) {
        pthread_create(&a, NULL, self, NULL);
        pthread_join(a, NULL);
    }
    pthread_create(&a, NULL, forth, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
