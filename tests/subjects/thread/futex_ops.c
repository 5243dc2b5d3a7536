/* futex_ops.c - the futex call itself: wait, wake, bitset, requeue, wake_op, time-outs, errors. */
#include "subject.h"
#include <linux/futex.h>
#include <pthread.h>

static int a, b;
static int woken;

static long futex(int *u, int op, int val, const void *t, int *u2, int val3)
{
    return syscall(SYS_futex, u, op, val, t, u2, val3);
}

static void *wait_a(void *arg)
{
    int bits = (int)(intptr_t)arg;
    while (futex(&a, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, bits) == -1 &&
           errno == EINTR)
        ;
    __atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Repeats an operation until it has acted on n waiters in all: they may not be asleep yet. */
#define UNTIL(n, call)                                                                             \
    do {                                                                                           \
        long done = 0;                                                                             \
        while (done < (n)) {                                                                       \
            long r = (call);                                                                       \
            if (r < 0)                                                                             \
                return say("FAIL errno %d\n", errno), 1;                                           \
            done += r;                                                                             \
            usleep(500);                                                                           \
        }                                                                                          \
        say("%s: %ld\n", #call, done);                                                             \
    } while (0)

int main(void)
{
    pthread_t t[4];
    struct timespec ts = {0, 10000000}, past = {1, 0};
    const int P = FUTEX_PRIVATE_FLAG;
    check(futex(&a, FUTEX_WAIT | P, 1, NULL, NULL, 0) == -1 && errno == EAGAIN);
    check(futex(&a, FUTEX_WAIT | P, 0, &ts, NULL, 0) == -1 && errno == ETIMEDOUT);
    check(futex(&a, FUTEX_WAIT, 0, &ts, NULL, 0) == -1 && errno == ETIMEDOUT);
    check(futex(&a, FUTEX_WAIT_BITSET | P, 0, &past, NULL, 1) == -1 && errno == ETIMEDOUT);
    check(futex(&a, FUTEX_WAIT_BITSET | P, 0, NULL, NULL, 0) == -1 && errno == EINVAL);
    check(futex((int *)((char *)&a + 1), FUTEX_WAIT | P, 0, NULL, NULL, 0) == -1 &&
          errno == EINVAL);
    check(futex((int *)16, FUTEX_WAIT | P, 0, NULL, NULL, 0) == -1 && errno == EFAULT);
    check(futex(&a, 99, 0, NULL, NULL, 0) == -1 && errno == ENOSYS);
    check(futex(&a, FUTEX_WAKE | P, 10, NULL, NULL, 0) == 0);
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, wait_a, (void *)(1L << i));
    UNTIL(1, futex(&a, FUTEX_WAKE_BITSET | P, 10, NULL, NULL, 4));
    pthread_join(t[2], NULL);
    check(futex(&a, FUTEX_WAKE_BITSET | P, 10, NULL, NULL, 4) == 0);
    UNTIL(3, futex(&a, FUTEX_CMP_REQUEUE | P, 0, (void *)10L, &b, 0));
    check(futex(&a, FUTEX_CMP_REQUEUE | P, 0, (void *)10L, &b, 7) == -1 && errno == EAGAIN);
    check(woken == 1);
    UNTIL(1, futex(&b, FUTEX_WAKE | P, 1, NULL, NULL, 0));
    check(futex(&a, FUTEX_WAKE_OP | P, 9, (void *)9L, &b,
                FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0)) == 2);
    check(b == 5);
    for (int i = 0; i < 4; i++)
        if (i != 2)
            pthread_join(t[i], NULL);
    check(woken == 4);
    return 0;
}
