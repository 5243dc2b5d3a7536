/* atomics.c - locked instructions from 4 threads lose nothing: xadd, cmpxchg, xchg, bts,
 * cmpxchg16b. */
#include "subject.h"
#include <pthread.h>

enum { N = 4, ROUNDS = 20000 };
static long added, cas, bits[N];
static int xlock, under_xlock;
static __int128 wide __attribute__((aligned(16)));

static void *work(void *arg)
{
    long me = (long)arg;
    for (long i = 0; i < ROUNDS; i++) {
        __atomic_add_fetch(&added, 1, __ATOMIC_SEQ_CST);
        long old = __atomic_load_n(&cas, __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n(&cas, &old, old + 3, 1, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
            ;
        __asm__ volatile("lock btsq %1, %0" : "+m"(bits[me]) : "r"(i & 63) : "memory", "cc");
        __asm__ volatile("mov (%0), %%rax; mov 8(%0), %%rdx\n"
                         "1:\tlea 1(%%rax), %%rbx; lea -1(%%rdx), %%rcx\n\t"
                         "lock cmpxchg16b (%0); jne 1b"
                         :
                         : "r"(&wide)
                         : "rax", "rbx", "rcx", "rdx", "memory", "cc");
        if (i % 50 == 0) {
            while (__atomic_exchange_n(&xlock, 1, __ATOMIC_SEQ_CST))
                sched_yield();
            under_xlock++;
            __atomic_store_n(&xlock, 0, __ATOMIC_SEQ_CST);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    say("added %ld, cas %ld, xlock %d, wide %ld %ld\n", added, cas, under_xlock, (long)wide,
        (long)(wide >> 64));
    for (int i = 0; i < N; i++)
        say("bits %lx\n", bits[i]);
    return 0;
}
