/* futex_fork.c - waiters and processes: fork takes none along, a vfork child shares them, even when
 * it is killed among them; exec and exit go ahead with waiters present. */
#include "thread/futex.h"

enum { N = 5 };
static int word, other;

static void *wait_on(void *arg)
{
    while (futex(arg, FUTEX_WAIT | PRIVATE, 0, NULL, NULL, 0) == -EINTR)
        ;
    return NULL;
}

static void after_fork(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        check(waiters(&word) == 0);
        check(futex(&word, FUTEX_WAKE | PRIVATE, INT_MAX, NULL, NULL, 0) == 0);
        pthread_create(&t, NULL, wait_on, &word);
        await_waiters(&word, 1);
        check(futex(&word, FUTEX_WAKE | PRIVATE, INT_MAX, NULL, NULL, 0) == 1);
        pthread_join(t, NULL);
        pthread_create(&t, NULL, wait_on, &word);
        await_waiters(&word, 1);
        _exit(4);
    }
    reap("fork", pid);
    check(waiters(&word) == N);
}

static void *kill_soon(void *arg)
{
    await_waiters(&other, 1);
    sleep_ms(10);
    kill(*(pid_t *)arg, SIGKILL);
    return NULL;
}

/* noinline: the child must not disturb the parent's frame. */
static __attribute__((noinline)) void vfork_wakes(void)
{
    static long woken;
    pid_t pid = vfork();
    if (pid == 0) {
        woken = syscall(SYS_futex, &word, FUTEX_WAKE | PRIVATE, 2, NULL, NULL, 0);
        _exit(0);
    }
    reap("vfork", pid);
    check(woken == 2);
    check(waiters(&word) == N - 2);
}

static __attribute__((noinline)) void vfork_waits(void)
{
    static volatile pid_t child;
    pthread_t t;
    pthread_create(&t, NULL, kill_soon, (void *)&child);
    pid_t pid = vfork();
    if (pid == 0) {
        child = getpid();
        syscall(SYS_futex, &other, FUTEX_WAIT | PRIVATE, 0, NULL, NULL, 0);
        _exit(0);
    }
    reap("vfork, killed", pid);
    pthread_join(t, NULL);
    check(waiters(&other) == 0);
    check(futex(&other, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == 0);
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, wait_on, &word);
    await_waiters(&word, N);
    after_fork();
    vfork_wakes();
    for (int i = 0; i < 5; i++)
        vfork_waits();
    check(futex(&word, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == 1);
    check(waiters(&word) == N - 3);
    execl("/bin/echo", "echo", "after exec", NULL);
    return 1;
}
