/* futex_times.c - waits that end by time: relative, absolute, by the time of day; none too early.
 */
#include "thread/futex.h"
#include <semaphore.h>

static int word;

static int timely(double start, clockid_t clock, double least)
{
    double took = seconds(clock) - start;
    return took >= least && took < least + 5;
}

static void raw(void)
{
    const int BITS = FUTEX_WAIT_BITSET | PRIVATE;
    struct timespec ts = {0, 30000000}, zero = {0, 0};
    double start = seconds(CLOCK_MONOTONIC);
    check(futex(&word, FUTEX_WAIT | PRIVATE, 0, &ts, NULL, 0) == -ETIMEDOUT);
    check(timely(start, CLOCK_MONOTONIC, 0.03));
    check(futex(&word, FUTEX_WAIT | PRIVATE, 0, &zero, NULL, 0) == -ETIMEDOUT);
    check(futex(&word, BITS, 0, &zero, NULL, 1) == -ETIMEDOUT);
    check(futex(&word, BITS | FUTEX_CLOCK_REALTIME, 0, &zero, NULL, 1) == -ETIMEDOUT);
    start = seconds(CLOCK_MONOTONIC);
    ts = in_ms(CLOCK_MONOTONIC, 30);
    check(futex(&word, BITS, 0, &ts, NULL, 1) == -ETIMEDOUT);
    check(timely(start, CLOCK_MONOTONIC, 0.029));
    start = seconds(CLOCK_REALTIME);
    ts = in_ms(CLOCK_REALTIME, 30);
    check(futex(&word, BITS | FUTEX_CLOCK_REALTIME, 0, &ts, NULL, 1) == -ETIMEDOUT);
    check(timely(start, CLOCK_REALTIME, 0.029));
    check(waiters(&word) == 0);
}

static void *wake_soon(void *arg)
{
    await_waiters(&word, 1);
    usleep(20000);
    *(long *)arg = futex(&word, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

static void woken_in_time(struct timespec ts, int op)
{
    pthread_t t;
    long count = 0;
    pthread_create(&t, NULL, wake_soon, &count);
    check(futex(&word, op | PRIVATE, 0, &ts, NULL, -1) == 0);
    pthread_join(t, NULL);
    check(count == 1);
}

static volatile int spin_on;

static void *spin(void *arg)
{
    while (spin_on)
        ;
    return arg;
}

/* Times run out while other threads are busy, and many at once. */
static void *wait_10_times(void *arg)
{
    long *timeouts = arg;
    for (int i = 0; i < 10; i++) {
        struct timespec ts = {0, 1000000 * (i % 4)};
        *timeouts += futex(&word, FUTEX_WAIT | PRIVATE, 0, &ts, NULL, 0) == -ETIMEDOUT;
    }
    return NULL;
}

static void many(void)
{
    pthread_t busy, t[20];
    long timeouts[20] = {0}, sum = 0;
    spin_on = 1;
    pthread_create(&busy, NULL, spin, NULL);
    for (int i = 0; i < 20; i++)
        pthread_create(&t[i], NULL, wait_10_times, &timeouts[i]);
    for (int i = 0; i < 20; i++)
        pthread_join(t[i], NULL), sum += timeouts[i];
    spin_on = 0;
    pthread_join(busy, NULL);
    check(sum == 200);
    check(waiters(&word) == 0);
}

/* Stopped and continued, a wait goes on to its old deadline. */
static void stopped(void)
{
    struct timespec ts = {0, 800000000};
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        sleep_ms(300);
        kill(self, SIGSTOP);
        sleep_ms(400);
        kill(self, SIGCONT);
        _exit(0);
    }
    double start = seconds(CLOCK_MONOTONIC);
    check(futex(&word, FUTEX_WAIT | PRIVATE, 0, &ts, NULL, 0) == -ETIMEDOUT);
    check(timely(start, CLOCK_MONOTONIC, 0.8));
    check(seconds(CLOCK_MONOTONIC) - start < 1.4);
    reap("stopper", pid);
}

static void by_pthread(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    sem_t s;
    sem_init(&s, 0, 0);
    struct timespec ts = in_ms(CLOCK_REALTIME, 20);
    pthread_mutex_lock(&m);
    check(pthread_cond_timedwait(&c, &m, &ts) == ETIMEDOUT);
    ts = in_ms(CLOCK_MONOTONIC, 20);
    check(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &ts) == ETIMEDOUT);
    ts = in_ms(CLOCK_REALTIME, 20);
    check(pthread_mutex_timedlock(&m, &ts) == ETIMEDOUT);
    ts = in_ms(CLOCK_REALTIME, 20);
    check(sem_timedwait(&s, &ts) == -1 && errno == ETIMEDOUT);
}

int main(void)
{
    raw();
    woken_in_time((struct timespec){20, 0}, FUTEX_WAIT);
    woken_in_time((struct timespec){INT64_MAX, 999999999}, FUTEX_WAIT);
    woken_in_time(in_ms(CLOCK_MONOTONIC, 20000), FUTEX_WAIT_BITSET);
    woken_in_time(in_ms(CLOCK_REALTIME, 20000), FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME);
    many();
    stopped();
    by_pthread();
    return 0;
}
