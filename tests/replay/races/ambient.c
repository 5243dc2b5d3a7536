/* ambient.c - the result hangs on what the machine gives: time, random bytes, process number,
 * addresses. All are printed, and the program's end depends on them. */
#include "race.h"
#include <sys/auxv.h>
#include <sys/random.h>
#include <x86intrin.h>

static void *thread(void *arg)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    say("thread %d at %p, %ld.%09ld\n", gettid(), (void *)&ts, ts.tv_sec, ts.tv_nsec);
    return arg;
}

int main(int argc, char **argv)
{
    unsigned long tsc = __rdtsc(), noise[4];
    struct timespec ts;
    void *heap = malloc(100), *mapped = malloc(1 << 20);
    const unsigned char *seed = (const unsigned char *)getauxval(AT_RANDOM); /* ROOT CAUSE */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise)
        return 99;
    say("tsc %lx, clock %ld.%09ld, time %ld\n", tsc, ts.tv_sec, ts.tv_nsec, (long)time(NULL));
    say("random %lx %lx %lx %lx, seed %02x%02x%02x\n", noise[0], noise[1], noise[2], noise[3],
        seed[0], seed[1], seed[2]);
    say("pid %d ppid %d tid %d\n", getpid(), getppid(), gettid());
    say("main %p, stack %p, heap %p, map %p, libc %p, argv %p\n", (void *)main, (void *)&ts, heap,
        mapped, (void *)malloc, (void *)argv);
    pthread_t t = start(thread, NULL);
    pthread_join(t, NULL);
    unsigned long mix = tsc ^ noise[0] ^ (unsigned long)getpid() ^ ((unsigned long)heap >> 12);
    dprintf(STDERR_FILENO, "mix %lx of %d\n", mix, argc);
    if (mix % 3 == 0)
        abort();
    return (int)(mix % 100);
}
