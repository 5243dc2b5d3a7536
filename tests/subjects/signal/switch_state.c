/* switch_state.c - three threads keep their registers across switches while a fourth signals them.
 */
#include "subject.h"
#include <pthread.h>

extern long state_loop(volatile long *stop, long seed);
static volatile long stop, hits;

static void tick(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    __atomic_add_fetch(&hits, 1, __ATOMIC_SEQ_CST);
}

static void *hold(void *arg)
{
    return (void *)state_loop(&stop, (long)arg);
}

int main(void)
{
    pthread_t t[3];
#ifdef YMM
    if (!__builtin_cpu_supports("avx2"))
        skip("no AVX2");
#endif
    on_signal(SIGUSR1, tick, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, hold, (void *)(0x1000001 * (i + 1)));
    for (int i = 0; i < 9 || hits < 9; i++) {
        pthread_kill(t[i % 3], SIGUSR1);
        usleep(300);
    }
    stop = 1;
    for (int i = 0; i < 3; i++) {
        void *r;
        pthread_join(t[i], &r);
        say("thread %d broken: %ld\n", i, (long)r);
    }
    return 0;
}
