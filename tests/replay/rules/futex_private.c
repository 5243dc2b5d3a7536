/* futex_private.c - private futexes: who is woken first, by wake, requeue, bitset and wake-op;
 * time-outs and values that changed before the wait. */
#include "rule.h"
#include <linux/futex.h>

static uint32_t word, other, woken_at, done[8];

static long futex(uint32_t *at, int op, uint32_t val, const void *timeout, uint32_t *at2,
                  uint32_t val3)
{
    return syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, val, timeout, at2, val3);
}

static void *waiter(void *arg)
{
    long n = (long)arg;
    long r;
    do
        r = futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1u << n);
    while (r == -1 && errno == EINTR);
    done[n] = __atomic_add_fetch(&woken_at, 1, __ATOMIC_SEQ_CST);
    say("waiter %ld woken as number %u: %ld\n", n, done[n], r);
    return NULL;
}

static void until(uint32_t count)
{
    while (__atomic_load_n(&woken_at, __ATOMIC_SEQ_CST) < count)
        sched_yield();
}

/* Waits until so many wait for `word`: requeueing them to where they are says how many there are.
 */
static void until_waiting(long count)
{
    while (futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)100L, &word, 0) < count)
        sched_yield();
}

int main(void)
{
    pthread_t t[8];
    for (long i = 0; i < 8; i++) {
        t[i] = start(waiter, (void *)i);
        until_waiting(i + 1);
    }
    check(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 1u << 5) == 1);
    until(1);
    check(done[5] == 1);
    check(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)2L, &other, 1) == -1 && errno == EAGAIN);
    say("requeue moved %ld\n", futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)2L, &other, 0));
    until(2);
    check(futex(&other, FUTEX_WAKE, 8, NULL, NULL, 0) == 2);
    until(4);
    other = 3;
    long both = futex(&other, FUTEX_WAKE_OP, 1, (void *)2L, &word,
                      FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
    check(both == 2 && word == 1);
    until(6);
    check(futex(&word, FUTEX_WAKE, 8, NULL, NULL, 0) == 2);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    struct timespec ts = {0, 3000000};
    uint64_t before = now_ns();
    check(futex(&word, FUTEX_WAIT, 1, &ts, NULL, 0) == -1 && errno == ETIMEDOUT);
    say("timed out after %lu ns\n", now_ns() - before);
    check(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) == -1 && errno == EAGAIN);
    for (int i = 0; i < 8; i++)
        say("%u ", done[i]);
    say("\n");
    return 0;
}
