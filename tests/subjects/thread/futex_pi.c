/* futex_pi.c - locks with priority inheritance, called raw: what becomes of the word, errors,
 * times, the order of hand-overs, signals, owners that end. */
#include "thread/futex.h"
#include <stdbool.h>

#define WAITERS    0x80000000u
#define DIED       0x40000000u
#define LOCK_PI2   13
#define call(w, o) futex((w), FUTEX_##o | PRIVATE, 0, NULL, NULL, 0)

static uint32_t word, second;
static uint32_t *const at = &word;

static uint32_t me(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* Says nothing where others may speak meanwhile. */
static void unlock(uint32_t *w)
{
    if (call(w, UNLOCK_PI) != 0)
        say("unlock FAIL\n");
}

/* A word with a waiter for a lock is not for plain calls. */
static void await_waiter(uint32_t *w)
{
    while (futex(w, FUTEX_REQUEUE | PRIVATE, 0, COUNT(INT_MAX), w, 0) != -EINVAL)
        usleep(200);
}

static void alone(void)
{
    uint8_t *page = map_anon(PAGE, PROT_READ);
    check(call(at, LOCK_PI) == 0 && word == me());
    check(call(at, LOCK_PI) == -EDEADLK && call(at, TRYLOCK_PI) == -EDEADLK && word == me());
    check(call(at, UNLOCK_PI) == 0 && word == 0);
    check(call(at, UNLOCK_PI) == -EPERM);
    check(call(at, TRYLOCK_PI) == 0 && word == me());
    word |= WAITERS | DIED;
    check(call(at, UNLOCK_PI) == 0 && word == 0);
    word = WAITERS;
    check(call(at, LOCK_PI) == 0 && word == me());
    word = DIED | WAITERS;
    check(call(at, TRYLOCK_PI) == 0 && word == (me() | DIED));
    word = 0;
    check(call((char *)at + 1, LOCK_PI) == -EINVAL);
    check(call((char *)at + 1, TRYLOCK_PI) == -EINVAL);
    check(call((char *)at + 1, UNLOCK_PI) == -EPERM);
    check(call(NULL, LOCK_PI) == -EFAULT && call(NULL, UNLOCK_PI) == -EFAULT);
    check(call((void *)-8ul, LOCK_PI) == -EFAULT && call((void *)-8ul, UNLOCK_PI) == -EFAULT);
    check(call(page, LOCK_PI) == -EFAULT && call(page, UNLOCK_PI) == -EPERM);
    check(futex(at, FUTEX_LOCK_PI | PRIVATE | FUTEX_CLOCK_REALTIME, 0, NULL, NULL, 0) == -ENOSYS);
    check(futex(at, FUTEX_LOCK_PI | PRIVATE, 0, (void *)8, NULL, 0) == -EFAULT);
    check(futex(at, FUTEX_LOCK_PI | PRIVATE, 0, &(struct timespec){0, -1}, NULL, 0) == -EINVAL);
    check(futex(at, LOCK_PI2 | PRIVATE, 0, &(struct timespec){-1, 0}, NULL, 0) == -EINVAL);
    check(word == 0);
}

/* ---- one thread that holds it until told otherwise ---- */

static pthread_barrier_t meet;
static uint32_t holder_tid;

static void *hold(void *arg)
{
    holder_tid = me();
    call(at, LOCK_PI);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    if (!arg)
        unlock(at);
    return NULL;
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    pthread_create(&t, NULL, fn, arg);
    return t;
}

static long lock_until(int op, clockid_t clock, long ms)
{
    double from = seconds(clock);
    struct timespec ts = in_ms(clock, ms);
    long r = futex(at, op | PRIVATE, 0, &ts, NULL, 0);
    return seconds(clock) - from < (double)ms / 1000 ? 1 : r;
}

static void times(void)
{
    pthread_t t = start(hold, NULL);
    pthread_barrier_wait(&meet);
    check(word == holder_tid);
    check(call(at, TRYLOCK_PI) == -EAGAIN && word == (holder_tid | WAITERS));
    word = holder_tid;
    check(call(at, UNLOCK_PI) == -EPERM);
    check(futex(at, FUTEX_LOCK_PI | PRIVATE, 0, &(struct timespec){1, 0}, NULL, 0) == -ETIMEDOUT);
    check(word == (holder_tid | WAITERS));
    check(lock_until(FUTEX_LOCK_PI, CLOCK_REALTIME, 20) == -ETIMEDOUT);
    check(lock_until(LOCK_PI2, CLOCK_MONOTONIC, 20) == -ETIMEDOUT);
    check(lock_until(LOCK_PI2 | FUTEX_CLOCK_REALTIME, CLOCK_REALTIME, 20) == -ETIMEDOUT);
    pthread_barrier_wait(&meet);
    pthread_join(t, NULL);
    check(word == 0);
    check(futex(at, LOCK_PI2 | PRIVATE, 0, &(struct timespec){1, 0}, NULL, 0) == 0);
    check(call(at, UNLOCK_PI) == 0);
    word = holder_tid;
    check(call(at, LOCK_PI) == -ESRCH && word == (holder_tid | WAITERS));
    check(call(at, TRYLOCK_PI) == -ESRCH);
    word = 0;
}

/* ---- waiters ---- */

static void *plain_wait(void *arg)
{
    futex(at, FUTEX_WAIT | PRIVATE, 1, NULL, NULL, 0);
    return arg;
}

static void *lock_once(void *arg)
{
    long r = call(at, LOCK_PI);
    say("waiter %ld: %ld, the word %s%s%s\n", (long)arg, r,
        (word & 0x3fffffff) == me() ? "its own" : "FAIL", word & WAITERS ? ", waiters" : "",
        word & DIED ? ", owner died" : "");
    unlock(at);
    return NULL;
}

static void mixed(void)
{
    word = 1;
    pthread_t t = start(plain_wait, NULL);
    await_waiters(at, 1);
    check(call(at, LOCK_PI) == -EINVAL && call(at, TRYLOCK_PI) == -EINVAL && word == 1);
    word = me();
    check(call(at, UNLOCK_PI) == -EINVAL && word == me());
    check(futex(at, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == 1);
    pthread_join(t, NULL);
    t = start(lock_once, (void *)1);
    await_waiter(at);
    check(word == (me() | WAITERS));
    check(futex(at, FUTEX_WAKE | PRIVATE, 1, NULL, NULL, 0) == -EINVAL);
    check(futex(&second, FUTEX_WAKE_OP | PRIVATE, 1, COUNT(1), at,
                FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_NE, 0)) == -EINVAL);
    word = holder_tid | WAITERS;
    check(call(at, TRYLOCK_PI) == -EINVAL);
    word = me(); /* the bit is not what counts */
    unlock(at);
    pthread_join(t, NULL);
    check(word == 0);
}

static void order(void)
{
    pthread_t t[4];
    check(call(at, LOCK_PI) == 0);
    for (long i = 0; i < 4; i++) {
        t[i] = start(lock_once, (void *)(i + 2));
        await_waiter(at);
        sleep_ms(30);
    }
    unlock(at);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    check(word == 0);
}

static volatile int signals;

static void count(int sig, siginfo_t *info, void *uc)
{
    (void)sig, (void)info, (void)uc;
    signals++;
}

static void interrupted(int flags)
{
    on_signal(SIGUSR1, count, flags);
    signals = 0;
    check(call(at, LOCK_PI) == 0);
    pthread_t t = start(lock_once, (void *)6);
    await_waiter(at);
    for (int i = 0; i < 5; i++) {
        pthread_kill(t, SIGUSR1);
        while (signals <= i)
            usleep(200);
    }
    unlock(at);
    pthread_join(t, NULL);
    check(signals == 5);
}

/* ---- owners that end ---- */

static void abandoned(void)
{
    pthread_t w[2], t = start(hold, at);
    pthread_barrier_wait(&meet);
    for (long i = 0; i < 2; i++) {
        w[i] = start(lock_once, (void *)(7 + i));
        await_waiter(at);
        sleep_ms(30);
    }
    pthread_barrier_wait(&meet);
    pthread_join(t, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    check(word == 0);
}

static struct {
    void *next;
    long offset;
    void *pending;
} head;
static struct {
    void *next;
    uint32_t word;
} robust;

static void *robust_hold(void *arg)
{
    head.next = (char *)&robust + 1;
    head.offset = (char *)&robust.word - (char *)&robust;
    robust.next = &head;
    syscall(SYS_set_robust_list, &head, sizeof head);
    call(&robust.word, LOCK_PI);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return arg;
}

static void *robust_lock(void *arg)
{
    check(call(&robust.word, LOCK_PI) == 0 && robust.word == (me() | WAITERS | DIED));
    unlock(&robust.word);
    return arg;
}

static void robust_end(bool waiter)
{
    pthread_t w, t = start(robust_hold, NULL);
    pthread_barrier_wait(&meet);
    if (waiter) {
        w = start(robust_lock, NULL);
        await_waiter(&robust.word);
    }
    pthread_barrier_wait(&meet);
    pthread_join(t, NULL);
    if (waiter) {
        pthread_join(w, NULL);
    } else {
        check(robust.word == DIED);
        check(call(&robust.word, LOCK_PI) == 0 && robust.word == (me() | DIED));
        check(call(&robust.word, UNLOCK_PI) == 0 && robust.word == 0);
    }
}

static void *other_half(void *arg)
{
    check(call(&second, LOCK_PI) == 0);
    check(call(at, LOCK_PI) == 0);
    unlock(at);
    unlock(&second);
    return arg;
}

static void circle(void)
{
    check(call(at, LOCK_PI) == 0);
    pthread_t t = start(other_half, NULL);
    await_waiter(at);
    check(call(&second, LOCK_PI) == -EDEADLK && (second & WAITERS));
    unlock(at);
    pthread_join(t, NULL);
    check(word == 0 && second == 0);
}

int main(void)
{
    pthread_barrier_init(&meet, NULL, 2);
    alone();
    times();
    mixed();
    order();
    interrupted(0);
    interrupted(SA_RESTART);
    abandoned();
    robust_end(false);
    robust_end(true);
    circle();
    return 0;
}
