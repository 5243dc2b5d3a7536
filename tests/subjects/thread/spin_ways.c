/* spin_ways.c - threads that wait for each other's turn by spinning, each in another way.
 *
 * With the name of a way: one thread waits in that way while another one computes. */
#include "subject.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <x86intrin.h>

enum { WAYS = 17, ROUNDS = 6 };

static int turn;
static int lock_word, xchg_word, cmpxchg_word;
static long sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;

static int is_mine(int me)
{
    return __atomic_load_n(&turn, __ATOMIC_ACQUIRE) % WAYS == me;
}

static __attribute__((noinline)) int asks_function(const int *at, int me)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE) % WAYS == me;
}

static void plain(int me)
{
    while (!is_mine(me))
        ;
}

static void with_pause(int me)
{
    while (!is_mine(me))
        __builtin_ia32_pause();
}

/* No load between the pauses. */
static void with_backoff(int me)
{
    for (int n = 1; !is_mine(me); n = n < 64 ? 2 * n : n)
        for (int i = 0; i < n; i++)
            __builtin_ia32_pause();
}

static void with_yield(int me)
{
    while (!is_mine(me))
        sched_yield();
}

static void with_tsc(int me)
{
    unsigned long last = 0;
    while (!is_mine(me))
        last = __rdtsc();
    __atomic_store_n(&sink, (long)last, __ATOMIC_RELAXED);
}

static void with_clock(int me)
{
    struct timespec ts;
    while (!is_mine(me))
        clock_gettime(CLOCK_MONOTONIC, &ts);
}

static void with_call(int me)
{
    while (!asks_function(&turn, me))
        ;
}

/* As redis does: it counts its tries in a register, then takes a lock. */
static void with_count(int me)
{
    for (;;) {
        for (int i = 0; i < 1000000; i++)
            if (is_mine(me))
                return;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void with_count_on_stack(int me)
{
    volatile long tries = 0;
    while (!is_mine(me))
        tries++;
}

static void with_shared_count(int me)
{
    while (!is_mine(me))
        __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
}

/* The lock is taken, so that every try stores what is there. */
static void by_xchg(int me)
{
    while (!is_mine(me))
        if (__atomic_exchange_n(&xchg_word, 1, __ATOMIC_ACQUIRE) != 1)
            _exit(1);
}

static void by_cmpxchg(int me)
{
    int zero = 0;
    while (!is_mine(me)) {
        if (__atomic_compare_exchange_n(&cmpxchg_word, &zero, 5, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            _exit(2);
        zero = 0;
    }
}

static void by_trylock(int me)
{
    while (!is_mine(me))
        if (!pthread_mutex_trylock(&held))
            _exit(4);
}

/* Vectors of flags, as a loop over several words. */
static void over_words(int me)
{
    static int zeros[3];
    for (;;) {
        int sum = 0;
        for (int i = 0; i < 3; i++)
            sum += __atomic_load_n(&zeros[i], __ATOMIC_RELAXED);
        if (!sum && is_mine(me))
            return;
    }
}

/* One that it waits for may be in the kernel. */
static void by_sleep(int me)
{
    while (!is_mine(me))
        sleep_ms(1);
}

static void by_lock(int me)
{
    while (!is_mine(me))
        while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE) == 1 && !is_mine(me))
            ;
}

/* Other processes could write there. */
static void on_shared_memory(int me)
{
    const int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (!is_mine(me))
        if (word == MAP_FAILED || __atomic_load_n(word, __ATOMIC_ACQUIRE))
            _exit(5);
}

static const struct {
    const char *name;
    void (*wait)(int me);
} way[WAYS] = {{"plain", plain},
               {"pause", with_pause},
               {"backoff", with_backoff},
               {"yield", with_yield},
               {"tsc", with_tsc},
               {"clock", with_clock},
               {"call", with_call},
               {"count", with_count},
               {"count_on_stack", with_count_on_stack},
               {"shared_count", with_shared_count},
               {"xchg", by_xchg},
               {"cmpxchg", by_cmpxchg},
               {"trylock", by_trylock},
               {"words", over_words},
               {"sleep", by_sleep},
               {"lock", by_lock},
               {"shared_memory", on_shared_memory}};

static void *run(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        way[me].wait(me);
        if (turn != i * WAYS + me)
            _exit(3);
        __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static pthread_barrier_t started;

static void *wait_once(void *arg)
{
    int me = (int)(intptr_t)arg;
    pthread_barrier_wait(&started);
    way[me].wait(me);
    return NULL;
}

unsigned long cells[64];

static void compute(void)
{
    unsigned long x = 1;
    for (long i = 0; i < 40000000; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        cells[x >> 58] = x;
    }
}

static int one_way(const char *name)
{
    pthread_t t;
    long me = 0;
    while (me < WAYS && strcmp(name, way[me].name))
        me++;
    if (me == WAYS)
        return 2;
    __atomic_store_n(&turn, (int)me + 1, __ATOMIC_RELAXED);
    pthread_barrier_init(&started, NULL, 2);
    pthread_create(&t, NULL, wait_once, (void *)me);
    pthread_barrier_wait(&started);
    compute();
    __atomic_store_n(&turn, (int)me, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    say("waited\n");
    return 0;
}

int main(int argc, char *argv[])
{
    pthread_t t[WAYS];
    xchg_word = cmpxchg_word = 1;
    pthread_mutex_lock(&held);
    if (argc > 1)
        return one_way(argv[1]);
    for (long i = 0; i < WAYS; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < WAYS; i++)
        pthread_join(t[i], NULL);
    say("turns %d\n", turn);
    return 0;
}
