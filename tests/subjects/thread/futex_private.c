/* futex_private.c - private futexes: order, bitsets, requeue, wake_op, counts and all errors. */
#include "thread/futex.h"

enum { N = 8 };
static int a, b;
static int order[N], woken;
static pthread_t thread[N];

static void *wait_on_a(void *arg)
{
    int i = (int)(intptr_t)arg;
    long r = futex(&a, FUTEX_WAIT_BITSET | PRIVATE, 0, NULL, NULL, 1 << i);
    order[__atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST)] = r ? -1 : i;
    return NULL;
}

/* N waiters, queued in the order of their numbers. */
static void start_all(void)
{
    woken = 0;
    for (long i = 0; i < N; i++) {
        pthread_create(&thread[i], NULL, wait_on_a, COUNT(i));
        await_waiters(&a, i + 1);
    }
}

static void await_woken(int n)
{
    while (__atomic_load_n(&woken, __ATOMIC_SEQ_CST) != n)
        usleep(100);
}

static void join_all(void)
{
    for (int i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
    say("order:");
    for (int i = 0; i < N; i++)
        say(" %d", order[i]);
    say("\n");
}

static void order_of_wakes(void)
{
    start_all();
    for (int i = 0; i < N; i++) {
        check(futex(&a, FUTEX_WAKE | PRIVATE, i == 3 ? 0 : i == 5 ? -7 : 1, NULL, NULL, 0) == 1);
        await_woken(i + 1);
    }
    join_all();
    check(futex(&a, FUTEX_WAKE | PRIVATE, INT_MAX, NULL, NULL, 0) == 0);
}

static void bitsets(void)
{
    start_all();
    check(futex(&a, FUTEX_WAKE_BITSET | PRIVATE, 9, NULL, NULL, 1 << N) == 0);
    check(futex(&a, FUTEX_WAKE_BITSET | PRIVATE, 1, NULL, NULL, 0x60) == 1);
    await_woken(1);
    check(futex(&a, FUTEX_WAKE_BITSET | PRIVATE, 9, NULL, NULL, 0x40) == 1);
    await_woken(2);
    check(futex(&a, FUTEX_WAKE_BITSET | PRIVATE, 9, NULL, NULL, 0x60) == 0);
    check(waiters(&a) == 6);
    check(futex(&a, FUTEX_WAKE | PRIVATE, 4, NULL, NULL, 0) == 4);
    await_woken(6);
    check(waiters(&a) == 2);
    check(futex(&a, FUTEX_WAKE_BITSET | PRIVATE, 9, NULL, NULL, -1) == 2);
    await_woken(8);
    for (int i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
    check(order[0] == 5 && order[1] == 6);
}

static void requeues(void)
{
    start_all();
    check(futex(&a, FUTEX_CMP_REQUEUE | PRIVATE, 1, COUNT(2), &b, 5) == -EAGAIN);
    check(futex(&a, FUTEX_CMP_REQUEUE | PRIVATE, 1, COUNT(2), &b, 0) == 3);
    await_woken(1);
    check(waiters(&a) == 5 && waiters(&b) == 2);
    check(futex(&a, FUTEX_REQUEUE | PRIVATE, 0, COUNT(1), &b, 0) == 1);
    check(futex(&a, FUTEX_REQUEUE | PRIVATE, 0, COUNT(0), &b, 0) == 0);
    check(waiters(&a) == 4 && waiters(&b) == 3);
    for (int i = 2; i <= 4; i++) { /* 1 2 3, in this order */
        check(futex(&b, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == 1);
        await_woken(i);
    }
    check(futex(&b, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == 0);
    check(futex(&a, FUTEX_REQUEUE | PRIVATE, 0, COUNT(INT_MAX), &b, 0) == 4);
    check(futex(&b, FUTEX_WAKE_BITSET | PRIVATE, 9, NULL, NULL, 0x20) == 1); /* the bits move too */
    await_woken(5);
    for (int i = 6; i <= 8; i++) {
        check(futex(&b, FUTEX_CMP_REQUEUE | PRIVATE, 1, COUNT(9), &b, 0) == 9 - i);
        await_woken(i);
    }
    join_all();
}

static void wake_ops(void)
{
    static const struct {
        int op, arg, cmp, cmparg, start;
    } t[] = {{FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 3, 3},
             {FUTEX_OP_ADD, 0xfff, FUTEX_OP_CMP_NE, 3, 3},
             {FUTEX_OP_OR, 0x18, FUTEX_OP_CMP_LT, 0, -5},
             {FUTEX_OP_ANDN, 0x0f, FUTEX_OP_CMP_LE, 0xfff, 255},
             {FUTEX_OP_XOR, 0x3c, FUTEX_OP_CMP_GT, 0xffe, -1},
             {FUTEX_OP_SET | FUTEX_OP_OPARG_SHIFT, 31, FUTEX_OP_CMP_GE, 0x7ff, 2047},
             {FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_EQ, 0, 1}};
    for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
        b = t[i].start;
        long r = futex(&a, FUTEX_WAKE_OP | PRIVATE, 1, COUNT(1), &b,
                       (int)FUTEX_OP((unsigned)t[i].op, (unsigned)t[i].arg, t[i].cmp, t[i].cmparg));
        say("wake_op %u: %ld, %#x\n", i, r, (unsigned)b);
    }
    b = 0;
    start_all();
    check(futex(&a, FUTEX_REQUEUE | PRIVATE, 0, COUNT(3), &b, 0) == 3);
    check(futex(&a, FUTEX_WAKE_OP | PRIVATE, 2, COUNT(2), &b,
                FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GT, 0)) == 2); /* not true: only a */
    await_woken(2);
    check(waiters(&a) == 3 && waiters(&b) == 3 && b == 1);
    check(futex(&a, FUTEX_WAKE_OP | PRIVATE, 9, COUNT(2), &b,
                FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 1)) == 5);
    await_woken(7);
    check(waiters(&a) == 0 && waiters(&b) == 1 && b == 0);
    check(futex(&b, FUTEX_WAKE | PRIVATE, 9, NULL, NULL, 0) == 1);
    for (int i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
}

static void errors(void)
{
    char *odd = (char *)&a + 1, *bad = (char *)16, *kernel = (char *)0xffffffff80000000ul;
    struct timespec past = {1, 0}, nsec = {0, 1000000000}, negative = {-1, 0};
    int *ro = (int *)map_anon(PAGE, PROT_READ), *none = (int *)map_anon(PAGE, PROT_NONE);
    const int WAIT = FUTEX_WAIT | PRIVATE, BITS = FUTEX_WAIT_BITSET | PRIVATE;
    const int WAKE = FUTEX_WAKE | PRIVATE, OP = FUTEX_WAKE_OP | PRIVATE;
    const int REQUEUE = FUTEX_REQUEUE | PRIVATE, CMP = FUTEX_CMP_REQUEUE | PRIVATE;
    check(futex(&a, WAIT, 1, NULL, NULL, 0) == -EAGAIN);
    check(futex(&a, BITS, 1, &past, NULL, 1) == -EAGAIN);
    check(futex(&a, BITS, 0, &past, NULL, 0) == -EINVAL);
    check(futex(odd, WAIT, 0, NULL, NULL, 0) == -EINVAL);
    check(futex(bad, WAIT, 0, NULL, NULL, 0) == -EFAULT);
    check(futex(kernel, WAIT, 0, NULL, NULL, 0) == -EFAULT);
    check(futex(none, WAIT, 0, NULL, NULL, 0) == -EFAULT);
    check(futex(ro, WAIT, 1, NULL, NULL, 0) == -EAGAIN);
    check(futex(ro, BITS, 0, &past, NULL, 1) == -ETIMEDOUT);
    check(futex(&a, WAIT, 0, &nsec, NULL, 0) == -EINVAL);
    check(futex(&a, WAIT, 0, &negative, NULL, 0) == -EINVAL);
    check(futex(&a, WAIT, 1, bad, NULL, 0) == -EFAULT);
    check(futex(&a, WAIT | FUTEX_CLOCK_REALTIME, 0, &past, NULL, 0) == -ENOSYS);
    check(futex(&a, WAKE | FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 0) == -ENOSYS);
    check(futex(&a, 77 | PRIVATE, 1, NULL, NULL, 0) == -ENOSYS);
    check(futex(odd, WAKE, 1, NULL, NULL, 0) == -EINVAL);
    check(futex(kernel, WAKE, 1, NULL, NULL, 0) == -EFAULT);
    check(futex(bad, WAKE, 1, NULL, NULL, 0) == 0);
    check(futex(NULL, WAKE, 1, NULL, NULL, 0) == 0);
    check(futex(&a, FUTEX_WAKE_BITSET | PRIVATE, 1, NULL, NULL, 0) == -EINVAL);
    check(futex(&a, REQUEUE, -1, COUNT(1), &b, 0) == -EINVAL);
    check(futex(&a, REQUEUE, 1, COUNT(-1), &b, 0) == -EINVAL);
    check(futex(&a, REQUEUE, 1, COUNT(1), odd, 0) == -EINVAL);
    check(futex(bad, REQUEUE, 1, COUNT(1), &b, 0) == 0);
    check(futex(bad, CMP, 1, COUNT(1), &b, 0) == -EFAULT);
    check(futex(&a, CMP, 1, COUNT(1), &b, 0) == 0);
    check(futex(&a, OP, 1, COUNT(1), odd, 0) == -EINVAL);
    check(futex(&a, OP, 1, COUNT(1), bad, 0) == -EFAULT);
    check(futex(&a, OP, 1, COUNT(1), ro, 0) == -EFAULT);
    check(futex(&a, OP, 1, COUNT(1), &b, FUTEX_OP(5, 1, 0, 0)) == -ENOSYS);
    check(b == 0);
    check(futex(&a, OP, 1, COUNT(1), &b, FUTEX_OP(FUTEX_OP_ADD, 1, 9, 0)) == -ENOSYS);
    check(b == 1); /* the addition was made */
    b = 0;
}

static void *wait_shared(void *arg)
{
    struct timespec ts = {0, 150000000};
    *(long *)arg = futex(&b, FUTEX_WAIT, 0, &ts, NULL, 0);
    return NULL;
}

/* A private wake does not reach a shared waiter, even in private memory. */
static void two_kinds(void)
{
    pthread_t t;
    long result = 1;
    pthread_create(&t, NULL, wait_shared, &result);
    usleep(30000);
    check(futex(&b, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == 0);
    pthread_join(t, NULL);
    check(result == -ETIMEDOUT);
}

int main(void)
{
    errors();
    order_of_wakes();
    bitsets();
    requeues();
    wake_ops();
    two_kinds();
    return 0;
}
