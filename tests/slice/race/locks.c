/* locks.c - values that threads hand over as POSIX says. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

enum { TIMES = 20 };

static int total, value, part[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t careful;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static int ready, ends[2];

static int two(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, NULL, one, &part[0]);
    pthread_create(&b, NULL, other, &part[1]);
    pthread_join(a, &x);
    pthread_join(b, &y);
    return (int)((long)x + (long)y);
}

static void *add_with_mutex(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&mutex);
        total = total + 3;
        pthread_mutex_unlock(&mutex);
    }
    return arg ? NULL : arg;
}

static int by_mutex(void) /* MARKS total: none */
{
    two(add_with_mutex, add_with_mutex);
    return total;
}

/* Asks the kernel to wait for the mutex's word, until that says that somebody has it. */
static void *wait_for_word(void *arg)
{
    const struct timespec a_while = {.tv_nsec = 1000000};
    volatile int why = 0;
    while (why != EAGAIN)
        why = syscall(SYS_futex, &mutex, FUTEX_WAIT, 0, &a_while, NULL, 0) ? errno : 0;
    return arg ? (void *)(long)why : NULL;
}

/* The kernel reads what the C library has written, and nothing orders the two. */
static int by_futex(void) /* MARKS mutex: none */
{
    pthread_t t;
    void *got;
    pthread_create(&t, NULL, wait_for_word, &part);
    usleep(3000);
    pthread_mutex_lock(&mutex);
    pthread_join(t, &got);
    pthread_mutex_unlock(&mutex);
    return (int)(long)got;
}

static void *add_carefully(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&careful);
        total = total + 3;
        usleep(100);
        pthread_mutex_unlock(&careful);
    }
    return arg ? NULL : arg;
}

/* A lock that the kernel hands over. */
static int by_inheritance(void) /* MARKS total: none */
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&careful, &a);
    two(add_carefully, add_carefully);
    return total;
}

static void *add_with_rwlock(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_rwlock_wrlock(&rwlock);
        total = total + 3;
        pthread_rwlock_unlock(&rwlock);
    }
    return arg ? NULL : arg;
}

static void *read_with_rwlock(void *arg)
{
    long sum = 0;
    while (!sum) {
        pthread_rwlock_rdlock(&rwlock);
        sum += total;
        pthread_rwlock_unlock(&rwlock);
        sched_yield();
    }
    return arg ? (void *)sum : arg;
}

static int by_rwlock(void) /* MARKS total: none */
{
    return two(add_with_rwlock, read_with_rwlock);
}

static void *add_with_spin(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_spin_lock(&spin);
        total = total + 3;
        pthread_spin_unlock(&spin);
    }
    return arg ? NULL : arg;
}

static int by_spin(void) /* MARKS total: none */
{
    pthread_spin_init(&spin, 0);
    two(add_with_spin, add_with_spin);
    return total;
}

static void *post(void *arg)
{
    value = 17;
    sem_post(&sem);
    return arg ? NULL : arg;
}

static void *wait(void *arg)
{
    sem_wait(&sem);
    long got = value;
    return arg ? (void *)got : arg;
}

static int by_semaphore(void) /* MARKS value: none */
{
    sem_init(&sem, 0, 0);
    return two(post, wait);
}

static void *give(void *arg)
{
    value = 18;
    usleep(1000);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&cond);
    return arg ? NULL : arg;
}

static void *take(void *arg)
{
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&cond, &mutex);
    long got = *(volatile int *)&ready;
    pthread_mutex_unlock(&mutex);
    got += *(volatile int *)&value;
    return arg ? (void *)got : arg;
}

static int by_condition(void) /* MARKS value: none, ready: none */
{
    return two(give, take);
}

static void *phases(void *arg)
{
    int me = (int *)arg == &part[1];
    part[me] = 5 + me;
    pthread_barrier_wait(&barrier);
    long got = part[!me];
    pthread_barrier_wait(&barrier);
    part[me] = 9;
    return (void *)got;
}

static int by_barrier(void) /* MARKS part: none */
{
    pthread_barrier_init(&barrier, NULL, 2);
    return two(phases, phases);
}

static void *leave_behind(void *arg)
{
    value = value + 5;
    return arg;
}

/* To the thread by its making, and back by its end. */
static int by_join(void) /* MARKS value: none */
{
    pthread_t t;
    value = 3;
    pthread_create(&t, NULL, leave_behind, NULL);
    pthread_join(t, NULL);
    return value;
}

static int by_late_join(void) /* MARKS value: none */
{
    pthread_t t;
    value = 3;
    pthread_create(&t, NULL, leave_behind, NULL);
    usleep(20000);
    pthread_join(t, NULL);
    return value;
}

static int raw_thread(void *arg)
{
    value = value + 5;
    return arg != NULL;
}

/* Nobody but the kernel tells that the thread has ended. */
static int by_raw_end(void) /* MARKS value: none */
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    static volatile int word = 1;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_CHILD_CLEARTID;
    value = 3;
    if (clone(raw_thread, stack + sizeof stack, flags, NULL, NULL, NULL, &word) < 0)
        return 0;
    while (word)
        syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL);
    return *(volatile int *)&value; /* for who compiles, clone() changes nothing here */
}

static void prepare(void)
{
    value = 21;
}

static void *use_once(void *arg)
{
    pthread_once(&once, prepare);
    long got = value;
    return arg ? (void *)got : arg;
}

static int by_once(void) /* MARKS value: none */
{
    return two(use_once, use_once);
}

static void *send_byte(void *arg)
{
    value = 23;
    return arg && write(ends[1], "", 1) == 1 ? NULL : arg;
}

static void *receive_byte(void *arg)
{
    char c;
    long got = read(ends[0], &c, 1) == 1 ? value : 0;
    return arg ? (void *)got : arg;
}

static int by_pipe(void) /* MARKS value: none */
{
    return pipe(ends) ? 0 : two(send_byte, receive_byte);
}

static volatile sig_atomic_t came;
static int seen;

static void handler(int sig)
{
    seen = value + sig;
    came = 1;
}

static void *be_interrupted(void *arg)
{
    while (!came)
        usleep(500);
    return arg;
}

static int by_signal(void) /* MARKS value: none */
{
    pthread_t t;
    signal(SIGUSR1, handler);
    pthread_create(&t, NULL, be_interrupted, NULL);
    value = 31;
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    return seen;
}

static FILE *out;

static void *print(void *arg)
{
    long n = 0;
    for (int i = 0; i < 3; i++) {
        n += fprintf(out, "%d\n", i * 100);
        free(malloc(100));
    }
    pthread_mutex_lock(&mutex);
    total = total + (int)ftell(out) + (int)n;
    pthread_mutex_unlock(&mutex);
    return arg ? NULL : arg;
}

/* A stream has a lock of its own. */
static int by_stream(void) /* MARKS total: none */
{
    out = tmpfile();
    two(print, print);
    return total + (int)ftell(out);
}

int main(int argc, char *argv[])
{
    static const struct one_case list[] = {{"by_mutex", by_mutex},
                                           {"by_futex", by_futex},
                                           {"by_inheritance", by_inheritance},
                                           {"by_rwlock", by_rwlock},
                                           {"by_spin", by_spin},
                                           {"by_semaphore", by_semaphore},
                                           {"by_condition", by_condition},
                                           {"by_barrier", by_barrier},
                                           {"by_join", by_join},
                                           {"by_late_join", by_late_join},
                                           {"by_raw_end", by_raw_end},
                                           {"by_once", by_once},
                                           {"by_pipe", by_pipe},
                                           {"by_signal", by_signal},
                                           {"by_stream", by_stream},
                                           {NULL, NULL}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
