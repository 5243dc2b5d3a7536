/* signals_await.h - N signals from another thread, each awaited in a call that unblocks them: none
 * is lost between the check and the call. */
#ifndef SIGNALS_AWAIT_H
#define SIGNALS_AWAIT_H
#include "rule.h"

static volatile uint64_t got, steps;
static volatile uint64_t acked;
static pid_t main_tid;

static void on_usr(int sig)
{
    (void)sig;
    got++;
}

static void *sender(void *arg)
{
    uint64_t n = (uint64_t)atol(arg);
    for (uint64_t i = 1; i <= n; i++) {
        tgkill(getpid(), main_tid, SIGUSR1);
        while (__atomic_load_n(&acked, __ATOMIC_SEQ_CST) < i)
            sched_yield();
    }
    return NULL;
}

/* `wait` waits with the mask that it is given. */
static int await_signals(int argc, char **argv, void (*wait)(const sigset_t *none),
                         const char *calls)
{
    char *n = argc > 1 ? argv[1] : "1000";
    sigset_t usr, none;
    sigemptyset(&none);
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    signal(SIGUSR1, on_usr);
    sigprocmask(SIG_BLOCK, &usr, NULL);
    main_tid = gettid();
    pthread_t t = start(sender, n);
    for (uint64_t want = 1; want <= (uint64_t)atol(n); want++) {
        while (got < want) {
            wait(&none);
            steps++;
        }
        __atomic_store_n(&acked, want, __ATOMIC_SEQ_CST);
    }
    pthread_join(t, NULL);
    say("%lu signals, %lu %s\n", got, steps, calls);
    check(got == (uint64_t)atol(n));
    return 0;
}
#endif
