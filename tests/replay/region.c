/* region.c - a program for recordings of parts: threads, vector registers, shared memory, signals.
 *
 * SPDX-License-Identifier: MIT
 *
 * Threads wait in system calls with values in vector registers. What they compute in the end
 * depends on all of it. With the argument "alone" there is one thread, and each run is the same;
 * with "apart" nothing is read through a private mapping that shows what a shared one writes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/drdebug.h"

enum { THREADS = 3, ROUNDS = 40, BYTES = 1 << 16 };

static volatile int signals;
static unsigned char *shared, *named, *private_copy, *segment;
static __thread long mine;
static long results[THREADS + 1];
static int ends[THREADS][2];
static int seen = 9000; /* bytes of private_copy */

static void on_signal(int sig)
{
    signals += sig;
}

static unsigned sum(const unsigned char *p, int n)
{
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s = s * 31 + p[i];
    return s;
}

/* One byte comes, while registers that only this thread has hold values. */
static void wait_with_values(int fd, const double *in, double *out)
{
    unsigned char byte;
    long n;
    __asm__ volatile("movupd (%[in]), %%xmm6\n\tmovupd 16(%[in]), %%xmm13\n\tfldl 24(%[in])\n\t"
                     "syscall\n\t"
                     "movupd %%xmm6, (%[out])\n\tmovupd %%xmm13, 16(%[out])\n\tfstpl 32(%[out])"
                     : "=a"(n)
                     : "0"(0l), "D"((long)fd), "S"(&byte), "d"(1l), [in] "r"(in), [out] "r"(out)
                     : "rcx", "r11", "memory", "xmm6", "xmm13", "st");
    if (n != 1)
        abort();
    mine += byte;
}

static void *work(void *arg)
{
    const int k = (int)(long)arg;
    double in[4] = {k + 0.5, k * 3.25, k - 7.75, k + 0.125}, out[5] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        wait_with_values(ends[k][0], in, out);
        if (memcmp(in, out, sizeof in) || out[4] != in[3])
            abort();
        in[i % 4] += 1.5;
        shared[i * 64 + k]++;
        segment[i * 64 + k] += (unsigned char)i;
    }
    results[k] = mine + (long)(in[0] + in[1] + in[2] + in[3]);
    return NULL;
}

/* A shared mapping of a file, and a private one of the same that shows what is written there.
 * The file has one name: mkstemp would look at the clock, and runs of it differ by a few ticks. */
static void map_all(void)
{
    static const char path[] = "region.mapped";
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || unlink(path) || ftruncate(fd, BYTES))
        abort();
    shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    named = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    private_copy = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    int id = shmget(IPC_PRIVATE, BYTES, 0600);
    segment = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    if (shared == MAP_FAILED || named == MAP_FAILED || private_copy == MAP_FAILED ||
        segment == (void *)-1)
        abort();
    private_copy[5000] = 7;
    close(fd);
}

static void round_of(int i, int threads)
{
    char text[32];
    DRDEBUG_MARK("round");
    for (int k = 0; k < threads; k++)
        if (write(ends[k][1], &(char){(char)(i + k)}, 1) != 1)
            abort();
    named[i * 100] = (unsigned char)(i + 1);
    unsigned char *heap = malloc(20000);
    memset(heap, i, 20000);
    kill(getpid(), SIGUSR1);
    snprintf(text, sizeof text, "round %d %u %u\n", i, sum(heap, 20000), sum(private_copy, seen));
    if (write(1, text, strlen(text)) < 0)
        abort();
    free(heap);
    if (i == ROUNDS / 2 && !fork())
        _exit(named[0]);
    if (i == ROUNDS / 2)
        wait(NULL);
}

int main(int argc, char *argv[])
{
    const int threads = argc > 1 && !strcmp(argv[1], "alone") ? 0 : THREADS;
    pthread_t thread[THREADS];
    seen = argc > 1 && !strcmp(argv[1], "apart") ? 0 : seen;
    signal(SIGUSR1, on_signal);
    map_all();
    for (int k = 0; k < threads; k++)
        if (pipe(ends[k]) || pthread_create(&thread[k], NULL, work, (void *)(long)k))
            abort();
    DRDEBUG_REGION_BEGIN("rounds");
    for (int i = 0; i < ROUNDS; i++)
        round_of(i, threads);
    DRDEBUG_REGION_END("rounds");
    for (int k = 0; k < threads; k++)
        pthread_join(thread[k], NULL);
    printf("%ld %ld %ld %d %u %u %u\n", results[0], results[1], results[2], signals,
           sum(shared, BYTES), sum(named, BYTES), sum(segment, BYTES));
    return 3;
}
