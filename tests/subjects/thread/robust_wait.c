/* robust_wait.c - who is woken when a thread ends: shared waiters for its robust locks and its tid,
 * and no private ones, as these are other futexes to the kernel. */
#include "thread/futex.h"
#include <sched.h>

enum { N = 6 };
static pthread_barrier_t held;
static pthread_mutex_t *lock;

static void *hold(void *arg)
{
    pthread_mutex_lock(lock);
    pthread_barrier_wait(&held);
    sleep_ms(20);
    return arg;
}

static void *want(void *arg)
{
    int r = pthread_mutex_lock(lock);
    if (r == EOWNERDEAD) {
        ++*(int *)arg;
        pthread_mutex_consistent(lock);
    }
    pthread_mutex_unlock(lock);
    return NULL;
}

/* The owner dies with N waiters: one gets EOWNERDEAD, then all get the lock. */
static void owner_dies(const char *what, pthread_mutex_t *m, int shared)
{
    pthread_mutexattr_t a;
    pthread_t owner, t[N];
    int dead = 0;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&a, shared);
    for (int round = 0; round < 5; round++) {
        pthread_mutex_init(m, &a);
        lock = m;
        pthread_barrier_init(&held, NULL, 2);
        pthread_create(&owner, NULL, hold, NULL);
        pthread_barrier_wait(&held);
        for (int i = 0; i < N; i++)
            pthread_create(&t[i], NULL, want, &dead);
        pthread_join(owner, NULL);
        for (int i = 0; i < N; i++)
            pthread_join(t[i], NULL);
    }
    say("%s: owner died %d times\n", what, dead);
}

/* A process dies with the lock. */
static void process_dies(pthread_mutex_t *m)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(m, &a);
    int p[2];
    char c;
    if (pipe(p))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_lock(m);
        write(p[1], "x", 1);
        sleep_ms(20);
        raise(SIGKILL);
    }
    check(read(p[0], &c, 1) == 1);
    check(pthread_mutex_lock(m) == EOWNERDEAD);
    check(pthread_mutex_consistent(m) == 0 && pthread_mutex_unlock(m) == 0);
    reap("owner", pid);
}

static int tid_word;
static char stack[2][65536] __attribute__((aligned(16)));

static int end_soon(void *arg)
{
    struct timespec ts = {0, 30000000};
    syscall(SYS_nanosleep, &ts, NULL);
    syscall(SYS_exit, 0);
    return arg != NULL;
}

static long wait_for_end(int i, int op)
{
    struct timespec ts = {0, 300000000};
    tid_word = 7;
    clone(end_soon, stack[i] + sizeof stack[i],
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
              CLONE_CHILD_CLEARTID,
          NULL, NULL, NULL, &tid_word);
    return futex(&tid_word, op, 7, &ts, NULL, 0);
}

int main(void)
{
    static pthread_mutex_t in_private;
    pthread_mutex_t *in_shared =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    owner_dies("private", &in_private, PTHREAD_PROCESS_PRIVATE);
    owner_dies("shared, in private memory", &in_private, PTHREAD_PROCESS_SHARED);
    owner_dies("shared", in_shared, PTHREAD_PROCESS_SHARED);
    process_dies(in_shared);
    check(wait_for_end(0, FUTEX_WAIT) == 0);
    check(tid_word == 0);
    check(wait_for_end(1, FUTEX_WAIT | PRIVATE) == -ETIMEDOUT);
    check(tid_word == 0);
    return 0;
}
