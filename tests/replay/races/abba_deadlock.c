/* abba_deadlock.c - two locks, two orders. Ends, or hangs until somebody interrupts it. */
#include "race.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile long turns[2];

static void *one(void *arg)
{
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&a);
        work(20);
        pthread_mutex_lock(&b);
        turns[0]++;
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
    }
    return arg;
}

static void *two(void *arg)
{
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&b);
        work(20);
        pthread_mutex_lock(&a); /* ROOT CAUSE */
        turns[1]++;
        pthread_mutex_unlock(&a);
        pthread_mutex_unlock(&b);
    }
    return arg;
}

static void on_int(int sig)
{
    char text[80];
    int n = snprintf(text, sizeof text, "interrupted by %d after %ld and %ld turns\n", sig,
                     turns[0], turns[1]);
    if (write(STDOUT_FILENO, text, (size_t)n) == n)
        _exit(9);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        signal(SIGINT, on_int);
    say("process %d\n", getpid());
    pthread_t x = start(one, NULL), y = start(two, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    say("%ld and %ld turns\n", turns[0], turns[1]);
    return 0;
}
