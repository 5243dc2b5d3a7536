/* locking.c - locks that are held and waited for when a program ends, and orders of taking them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Lines are marked with a letter. Cases that wait for ever are ended by an alarm.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../slice/race/cases.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int ends[2];
static volatile int total, ready, shared, counted[2];
static __thread volatile int seen;
static pthread_spinlock_t spin;

static void run(void *(*function)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, function, NULL);
    pthread_join(t, NULL);
}

static void *forth(void *arg)
{
    pthread_mutex_lock(&first);  /* A */
    pthread_mutex_lock(&second); /* B */
    total++;
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return arg;
}

static void *back(void *arg)
{
    pthread_mutex_lock(&second); /* C */
    pthread_mutex_lock(&first);  /* D */
    total++;
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return arg;
}

static int both_orders(void)
{
    run(forth);
    run(back);
    return total;
}

static void *back_tried(void *arg)
{
    static const struct timespec long_ago;
    pthread_mutex_lock(&second);
    if (!pthread_mutex_trylock(&first)) {
        total++;
        pthread_mutex_unlock(&first);
    }
    if (!pthread_mutex_timedlock(&first, &long_ago)) {
        total++;
        pthread_mutex_unlock(&first);
    }
    pthread_mutex_unlock(&second);
    return arg;
}

/* Who does not wait for ever is in no deadlock. */
static int tried(void)
{
    run(forth);
    run(back_tried);
    return total;
}

static int one_order(void)
{
    run(forth);
    run(forth);
    return total;
}

static void *forth_gated(void *arg)
{
    pthread_mutex_lock(&gate);
    forth(NULL);
    pthread_mutex_unlock(&gate);
    return arg;
}

static void *back_gated(void *arg)
{
    pthread_mutex_lock(&gate);
    back(NULL);
    pthread_mutex_unlock(&gate);
    return arg;
}

static int gated(void)
{
    run(forth_gated);
    run(back_gated);
    return total;
}

static void *write_and_lock(void *arg)
{
    shared = 1; /* N */
    pthread_mutex_lock(&first);
    total++;
    pthread_mutex_unlock(&first);
    return arg;
}

static void *lock_and_write(void *arg)
{
    usleep(30000);
    pthread_mutex_lock(&first);
    total++;
    pthread_mutex_unlock(&first);
    shared = 2; /* O */
    return arg;
}

/* The lock orders the two writes, this time. */
static int by_luck(void)
{
    pthread_t t;
    pthread_create(&t, NULL, lock_and_write, NULL);
    write_and_lock(NULL);
    pthread_join(t, NULL);
    return shared;
}

/* Locks that no owner is written down in: what comes right behind the call is under the lock. */
static void *with_rwlock(void *arg)
{
    for (int i = 0; i < 8; i++) {
        pthread_rwlock_wrlock(&rwlock);
        counted[0]++; /* X */
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_rdlock(&rwlock);
        seen = counted[0]; /* Y */
        pthread_rwlock_unlock(&rwlock);
        pthread_spin_lock(&spin);
        counted[1]++; /* Z */
        pthread_spin_unlock(&spin);
    }
    return arg;
}

static int without_owners(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    run(with_rwlock);
    run(with_rwlock);
    return counted[0] + counted[1];
}

/* An instruction that reads and writes has seen what another thread wrote. */
static void *look_and_count(void *arg)
{
    for (int i = 0; i < 2; i++) {
        seen = total; /* P1 */
        sem_post(&sem);
        usleep(2000);
        __asm__ volatile("incl %0" : "+m"(total)); /* P2 */
    }
    return arg;
}

static void *count_too(void *arg)
{
    for (int i = 0; i < 2; i++) {
        sem_wait(&sem);
        __asm__ volatile("incl %0" : "+m"(total)); /* P3 */
    }
    return arg;
}

static int looks(void)
{
    pthread_t t;
    pthread_create(&t, NULL, count_too, NULL);
    look_and_count(NULL);
    pthread_join(t, NULL);
    return total;
}

static void *hold(void *arg)
{
    pthread_mutex_lock(&first);     /* E */
    pthread_rwlock_rdlock(&rwlock); /* F */
    ready = 1;
    pause();
    return arg;
}

static void *want(void *arg)
{
    while (!ready)
        usleep(1000);
    pthread_mutex_lock(&first); /* G */
    return arg;
}

static void *hold_and_end(void *arg)
{
    pthread_mutex_lock(&second); /* H */
    return arg;
}

static void *want_second(void *arg)
{
    usleep(20000);
    pthread_mutex_lock(&second); /* I */
    return arg;
}

static void *wait_for_sem(void *arg)
{
    sem_wait(&sem); /* J */
    return arg;
}

static void *wait_for_cond(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_cond_wait(&cond, &gate); /* K */
    return arg;
}

static void *wait_for_byte(void *arg)
{
    char c;
    return read(ends[0], &c, 1) == 1 ? arg : NULL; /* L */
}

/* Two that wait for each other, one that waits for itself. */
static volatile int both;

static void *take_two(pthread_mutex_t *mine, pthread_mutex_t *other, int bit)
{
    pthread_mutex_lock(mine); /* Q */
    __atomic_or_fetch(&both, bit, __ATOMIC_SEQ_CST);
    while (both != 3)
        usleep(1000);
    pthread_mutex_lock(other); /* R */
    return NULL;
}

static void *take_forth(void *arg)
{
    (void)arg;
    return take_two(&first, &second, 1);
}

static void *take_back(void *arg)
{
    (void)arg;
    return take_two(&second, &first, 2);
}

static void *take_twice(void *arg)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own); /* S */
    pthread_mutex_lock(&own); /* T */
    return arg;
}

/* A signal that comes too early, and a change that nobody signals. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int items, closed;
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static int is_empty(const struct queue *q)
{
    return q->items == 0;
}

static void *consume(void *arg)
{
    struct queue *q = arg;
    pthread_mutex_lock(&q->lock);
    ready = 1;
    while (is_empty(q) && !q->closed)
        pthread_cond_wait(&q->more, &q->lock); /* U */
    q->items--;
    pthread_mutex_unlock(&q->lock);
    return arg;
}

static void *produce(void *arg)
{
    struct queue *q = arg;
    pthread_cond_signal(&q->more); /* V */
    usleep(1000);
    while (!ready)
        usleep(1000);
    pthread_mutex_lock(&q->lock);
    q->items = 5; /* W */
    pthread_mutex_unlock(&q->lock);
    return arg;
}

static int hangs(void)
{
    static void *(*const list[])(void *) = {produce, consume, take_forth, take_back, take_twice};
    pthread_t t[sizeof list / sizeof *list];
    alarm(1);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        pthread_create(&t[i], NULL, list[i], &queue);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        pthread_join(t[i], NULL);
    return 0;
}

static int waits(void)
{
    static void *(*const list[])(void *) = {hold,         want,          hold_and_end, want_second,
                                            wait_for_sem, wait_for_cond, wait_for_byte};
    pthread_t t[sizeof list / sizeof *list];
    sem_init(&sem, 0, 0);
    if (pipe(ends))
        return 1;
    alarm(1);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        pthread_create(&t[i], NULL, list[i], NULL);
    pthread_join(t[0], NULL); /* M */
    return 0;
}

/* Only a signal ends it. */
static int stuck(void)
{
    pthread_t t;
    sem_init(&sem, 0, 0);
    pthread_create(&t, NULL, wait_for_sem, NULL);
    pthread_join(t, NULL);
    return 0;
}

/* Another process could write the byte. */
static int outside(void)
{
    pthread_t t;
    if (pipe(ends))
        return 1;
    alarm(3);
    pthread_create(&t, NULL, wait_for_byte, NULL);
    pthread_join(t, NULL);
    return 0;
}

int main(int argc, char *argv[])
{
    static const struct one_case list[] = {{"both_orders", both_orders},
                                           {"one_order", one_order},
                                           {"gated", gated},
                                           {"tried", tried},
                                           {"by_luck", by_luck},
                                           {"without_owners", without_owners},
                                           {"looks", looks},
                                           {"waits", waits},
                                           {"hangs", hangs},
                                           {"stuck", stuck},
                                           {"outside", outside},
                                           {NULL, NULL}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
