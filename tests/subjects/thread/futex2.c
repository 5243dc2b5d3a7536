/* futex2.c - futex_waitv, futex_wait, futex_wake and futex_requeue meet the waiters of futex(). */
#include "thread/futex.h"

enum { WAITV = 449, WAKE2 = 454, WAIT2 = 455, REQUEUE2 = 456, FLAGS = 0x82 };
static int a, b;
static long result[3];

struct waitv {
    uint64_t value, word;
    uint32_t flags, reserved;
};

static void *by_futex(void *arg)
{
    (void)arg;
    result[0] = futex(&a, FUTEX_WAIT_BITSET | PRIVATE, 0, NULL, NULL, 1);
    return NULL;
}

static void *by_wait2(void *arg)
{
    struct timespec ts = in_ms(CLOCK_MONOTONIC, 20000);
    (void)arg;
    result[1] = syscall(WAIT2, &a, 0ul, 2ul, FLAGS, &ts, CLOCK_MONOTONIC);
    return NULL;
}

static void *by_waitv(void *arg)
{
    struct waitv w[2] = {{0, (uintptr_t)&b, FLAGS, 0}, {0, (uintptr_t)&a, FLAGS, 0}};
    struct timespec ts = in_ms(CLOCK_MONOTONIC, 20000);
    (void)arg;
    result[2] = syscall(WAITV, w, 2, 0, &ts, CLOCK_MONOTONIC);
    return NULL;
}

static pthread_t thread[3];

static void start_all(void)
{
    static void *(*const fn[3])(void *) = {by_futex, by_wait2, by_waitv};
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread[i], NULL, fn[i], NULL);
        await_waiters(&a, i + 1);
    }
}

static void join_all(void)
{
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    say("results: %ld %ld %ld\n", result[0], result[1], result[2]);
}

int main(void)
{
    struct waitv w[2] = {{0, (uintptr_t)&a, FLAGS, 0}, {0, (uintptr_t)&b, FLAGS, 0}};
    if (syscall(WAKE2, &a, 1ul, 0, FLAGS) == -1 && errno == ENOSYS)
        skip("no futex_wake");
    check(syscall(WAKE2, &a, 0ul, 1, FLAGS) == -1 && errno == EINVAL);
    check(syscall(WAKE2, (char *)&a + 1, 1ul, 1, FLAGS) == -1 && errno == EINVAL);
    check(syscall(WAKE2, &a, 1ul, 1, 0x7f) == -1 && errno == EINVAL);
    start_all();
    check(syscall(WAKE2, &a, ~0u, 0, FLAGS) == 0);
    check(syscall(WAKE2, &a, 2ul, 9, FLAGS) == 2); /* a waitv matches any bits */
    check(syscall(WAKE2, &a, 1ul, 9, FLAGS) == 1);
    join_all();
    start_all();
    check(futex(&a, FUTEX_WAKE | PRIVATE, 9, NULL, NULL, 0) == 3);
    join_all();
    start_all();
    check(syscall(REQUEUE2, w, 0, 0, 9) == 3);
    check(waiters(&a) == 0 && waiters(&b) == 4);       /* the waitv was there, too */
    futex(&b, FUTEX_WAKE | PRIVATE, 9, NULL, NULL, 0); /* the waitv may count once or twice */
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    w[0].value = 1;
    check(syscall(REQUEUE2, w, 0, 0, 9) == -1 && errno == EAGAIN);
    return 0;
}
