/* lost_wakeup.c - the flag is set without the lock, so the signal may come before the wait. An
 * alarm ends the program then. */
#include "race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int ready, rounds;

static void *waiter(void *arg)
{
    pthread_mutex_lock(&lock);
    if (!ready) {
        work(500);
        pthread_cond_wait(&cond, &lock);
    }
    ready = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void on_alarm(int sig)
{
    static const char text[] = "nobody woke the waiter\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) > 0)
        _exit(40 + rounds % 40 + 0 * sig);
}

int main(void)
{
    signal(SIGALRM, on_alarm);
    for (rounds = 0; rounds < 60; rounds++) {
        alarm(1);
        pthread_t t = start(waiter, NULL);
        work(rounds * 40);
        ready = 1; /* ROOT CAUSE */
        pthread_cond_signal(&cond);
        pthread_join(t, NULL);
    }
    say("all %d rounds woke\n", rounds);
    return 0;
}
