/* loops.c - loops of one line each, of all shapes. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static volatile long sink, ticks;
static char *area;

static void open_page(int sig)
{
    (void)sig;
    mprotect(area + PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static long twice(long x)
{
    return x + x;
}

static void tick(void)
{
    ticks++; /* TICKS */
}

static void *ticker(void *arg)
{
    for (int i = 0; i < 20; i++) {
        tick();
        sched_yield();
    }
    return arg;
}

/* clang-format off */
static long all(long n)
{
    const long few = n < 20 ? n : 20;
    long x = 0, i = 0, j = n;
    char *p = area;
    x = 1;                                                             /* 0 */
    for (i = 0; i < n; i++) x += i ^ (x >> 3);
    sink = x;                                                          /* 1 */
    while (j--) { if (j % 7 == 3) x += j; else x ^= j; }
    sink = x;                                                          /* 2 */
    for (i = 0; i < n; i++) for (j = 0; j < 3; j++) x += i * j;
    sink = x;                                                          /* 3 */
    for (; p < area + 2 * PAGE; p += 256) *p = 1;
    sink = x;                                                          /* 4 */
    for (i = 0; i < few; i++) x += twice(i);
    sink = x;                                                          /* 5 */
    for (i = 0; i < n; i++) switch (i & 7) { case 0: x++; break; case 1: x--; break; case 2: x ^= 4; break; case 3: x += 7; break; case 4: x *= 3; break; default: x |= 1; }
    sink = x;                                                          /* 6 */
    for (i = 0; i < few; i++) x += getppid() > 0;
    sink = x;                                                          /* 7 */
    for (i = 0; i < n && ticks < 15; i++) x += ticks;
    sink = x;                                                          /* 8 */
    return x;
}
/* clang-format on */

int main(int argc, char **argv)
{
    pthread_t t;
    area = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(area + PAGE, PAGE, PROT_NONE);
    signal(SIGSEGV, open_page);
    pthread_create(&t, NULL, ticker, NULL);
    printf("%ld\n", all(argc > 1 ? atol(argv[1]) : 60));
    pthread_join(t, NULL);
    return 0;
}
