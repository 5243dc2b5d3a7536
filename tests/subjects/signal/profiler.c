/* profiler.c - a sampling profiler: SIGPROF every millisecond of processor time, each with a
 * backtrace. */
#include "subject.h"
#include <execinfo.h>
#include <pthread.h>
#include <sys/time.h>

enum { THREADS = 3, WANTED = 60, DEEP = 32 };
static _Atomic int samples, deep;
static _Atomic unsigned long places;

static void on_sample(int sig, siginfo_t *info, void *context)
{
    void *frames[DEEP];
    const ucontext_t *uc = context;
    (void)sig, (void)info;
    deep += backtrace(frames, DEEP) > 3;
    places += (unsigned long)uc->uc_mcontext.gregs[REG_RIP];
    samples++;
}

static __attribute__((noinline)) unsigned fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *body(void *result)
{
    unsigned long sum = 0;
    do
        sum = fib(22);
    while (samples < WANTED);
    *(unsigned long *)result = sum;
    return NULL;
}

int main(void)
{
    void *frames[2];
    pthread_t thread[THREADS];
    unsigned long result[THREADS];
    backtrace(frames, 2); /* loads the unwinder, which no handler should do */
    on_signal(SIGPROF, on_sample, SA_RESTART);
    setitimer(ITIMER_PROF, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, body, &result[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    check(samples >= WANTED && deep > 0 && places != 0);
    check(result[0] == 17711 && result[1] == 17711 && result[2] == 17711);
    return 0;
}
