/* vfork_killed.c - vfork children killed at any moment, while threads of the parent take turns with
 * them in futex calls: the parent and its threads go on. */
#include "subject.h"
#include <linux/futex.h>
#include <pthread.h>

static int word, stop;
static pid_t child;

static void wake_and_wait(long ns)
{
    struct timespec ts = {0, ns};
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);
}

static int stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_SEQ_CST);
}

static void *take_turns(void *arg)
{
    while (!stopped())
        wake_and_wait(200000);
    return arg;
}

static void *kill_children(void *arg)
{
    unsigned seed = 1;
    while (!stopped()) {
        pid_t pid = __atomic_exchange_n(&child, 0, __ATOMIC_SEQ_CST);
        usleep(pid ? (unsigned)rand_r(&seed) % 300 : 50);
        if (pid)
            kill(pid, SIGKILL);
    }
    return arg;
}

static __attribute__((noinline)) int one_child(void)
{
    int status = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        __atomic_store_n(&child, getpid(), __ATOMIC_SEQ_CST);
        for (;;)
            wake_and_wait(100000);
    }
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

int main(void)
{
    pthread_t t[4];
    int killed = 0;
    pthread_create(&t[0], NULL, kill_children, NULL);
    for (int i = 1; i < 4; i++)
        pthread_create(&t[i], NULL, take_turns, NULL);
    for (int i = 0; i < 200; i++)
        killed += one_child();
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    check(killed == 200);
    return 0;
}
