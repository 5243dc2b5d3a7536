/* futex_signals.c - signals against waits: EINTR, restart, and neither wake-ups nor signals lost.
 */
#include "thread/futex.h"
#include <semaphore.h>

static int word, quit;
static volatile int hits;
static pthread_t main_thread;

static void count(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    hits++;
}

/* Once somebody waits: a signal; if the wait goes on, a wake-up. */
static void *poke(void *arg)
{
    await_waiters(&word, 1);
    usleep(10000);
    pthread_kill(main_thread, SIGUSR1);
    while (!hits)
        usleep(200);
    usleep(10000);
    *(long *)arg = futex(&word, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

static void one(const char *what, int flags, int op, struct timespec *ts)
{
    pthread_t t;
    long woken = -1;
    on_signal(SIGUSR1, count, flags);
    hits = 0;
    pthread_create(&t, NULL, poke, &woken);
    long r = futex(&word, op | PRIVATE, 0, ts, NULL, -1);
    pthread_join(t, NULL);
    say("%s: %s, handler ran %d, woken later %ld\n", what,
        r == -EINTR ? "EINTR"
        : r         ? "FAIL"
                    : "0",
        hits, woken);
}

/* A signal that is ignored interrupts nothing. */
static void ignored(void)
{
    struct timespec ts = {0, 60000000};
    pthread_t t;
    long woken = -1;
    signal(SIGUSR1, SIG_IGN);
    hits = 1;
    pthread_create(&t, NULL, poke, &woken);
    check(futex(&word, FUTEX_WAIT | PRIVATE, 0, &ts, NULL, 0) != -EINTR);
    pthread_join(t, NULL);
}

static void *shoot(void *arg)
{
    while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
        pthread_kill(main_thread, SIGUSR1);
        pthread_kill(*(pthread_t *)arg, SIGUSR1);
        usleep(50);
    }
    return NULL;
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static sem_t sem[2];
static int turn;
enum { ROUNDS = 1000 };

static void take_turns(int me)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&m);
        while (turn != me)
            pthread_cond_wait(&cond[me], &m);
        turn = !me;
        pthread_cond_signal(&cond[!me]);
        pthread_mutex_unlock(&m);
    }
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_wait(&sem[me]) == -1 && errno == EINTR)
            ;
        sem_post(&sem[!me]);
    }
}

static void *other(void *arg)
{
    take_turns(1);
    return arg;
}

static void storm(int flags)
{
    pthread_t partner, shooter;
    on_signal(SIGUSR1, count, flags);
    hits = quit = turn = 0;
    sem_init(&sem[0], 0, 1);
    sem_init(&sem[1], 0, 0);
    pthread_create(&partner, NULL, other, NULL);
    pthread_create(&shooter, NULL, shoot, &partner);
    take_turns(0);
    while (hits < 1000)
        usleep(1000);
    __atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
    pthread_join(shooter, NULL);
    pthread_join(partner, NULL);
    int left;
    sem_getvalue(&sem[0], &left);
    check(left == 1);
    sem_getvalue(&sem[1], &left);
    check(left == 0);
    check(hits >= 1000);
}

/* Every wake-up counted by the waker is one that a waiter has seen, however it was interrupted. */
static long seen[3], stop_waiting;

static void *wait_and_count(void *arg)
{
    struct timespec ts = {0, 300000};
    long *n = arg;
    while (!__atomic_load_n(&stop_waiting, __ATOMIC_SEQ_CST))
        *n += futex(&word, FUTEX_WAIT | PRIVATE, 0, n == seen ? NULL : &ts, NULL, 0) == 0;
    return NULL;
}

static void accounts(void)
{
    pthread_t t[3];
    long woken = 0;
    on_signal(SIGUSR1, count, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, wait_and_count, &seen[i]);
    for (int i = 0; i < 5000; i++) {
        pthread_kill(t[i % 3], SIGUSR1);
        woken += futex(&word, FUTEX_WAKE | PRIVATE, 1 + i % 2, NULL, NULL, 0);
        if (i % 8 == 0)
            usleep(100);
    }
    __atomic_store_n(&stop_waiting, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 100 || waiters(&word); i++) {
        woken += futex(&word, FUTEX_WAKE | PRIVATE, 9, NULL, NULL, 0);
        usleep(100);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    check(woken == seen[0] + seen[1] + seen[2]);
}

int main(void)
{
    struct timespec rel = {20, 0}, mono = in_ms(CLOCK_MONOTONIC, 20000),
                    real = in_ms(CLOCK_REALTIME, 20000);
    main_thread = pthread_self();
    one("wait", 0, FUTEX_WAIT, NULL);
    one("wait, SA_RESTART", SA_RESTART, FUTEX_WAIT, NULL);
    one("wait_bitset", 0, FUTEX_WAIT_BITSET, NULL);
    one("wait_bitset, SA_RESTART", SA_RESTART, FUTEX_WAIT_BITSET, NULL);
    one("timed wait", 0, FUTEX_WAIT, &rel);
    one("timed wait, SA_RESTART", SA_RESTART, FUTEX_WAIT, &rel);
    one("timed wait_bitset, SA_RESTART", SA_RESTART, FUTEX_WAIT_BITSET, &mono);
    one("by the time of day, SA_RESTART", SA_RESTART, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME,
        &real);
    ignored();
    storm(0);
    storm(SA_RESTART);
    accounts();
    return 0;
}
