/* signals_read.c N - N signals against a read that blocks on a pipe: each handler writes the byte
 * that ends a read, or interrupts it; where each arrives is in the sum. */
#include "rule.h"

static int fds[2];
static volatile uint64_t got, acked, spins;
static uint64_t sum;
static pid_t main_tid;

static void on_usr(int sig)
{
    char c = (char)sig;
    got++;
    sum = sum * 31 + spins;
    if (write(fds[1], &c, 1) != 1)
        say("write FAIL\n");
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

int main(int argc, char **argv)
{
    char *n = argc > 1 ? argv[1] : "1000";
    uint64_t interrupted = 0, bytes = 0;
    char c;
    on_signal(SIGUSR1, (on_signal_fn *)(void *)on_usr, 0);
    main_tid = gettid();
    check(pipe(fds) == 0);
    pthread_t t = start(sender, n);
    while (bytes < (uint64_t)atol(n)) {
        for (int i = 0; i < 20; i++)
            spins++;
        ssize_t r = read(fds[0], &c, 1);
        if (r == 1)
            __atomic_store_n(&acked, ++bytes, __ATOMIC_SEQ_CST);
        else
            interrupted += errno == EINTR;
    }
    pthread_join(t, NULL);
    say("%lu signals, %lu reads interrupted, sum %016lx\n", got, interrupted, sum);
    check(got == bytes);
    return 0;
}
