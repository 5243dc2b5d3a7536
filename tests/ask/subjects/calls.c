/* calls.c - functions executed in every way: calls, recursion, tail calls, callbacks of a library,
 * handlers, threads, longjmp. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf back;
static volatile sig_atomic_t handled;
static volatile int sink;
static volatile size_t room = 63;

/* Recursion. */
NOINLINE int fib(int n)
{
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

/* Two that call each other, at -O2 by jumps. */
NOINLINE int is_odd(unsigned n);
NOINLINE int is_even(unsigned n)
{
    sink++;
    if (n == 0)
        return 1;
    return is_odd(n - 1);
}

NOINLINE int is_odd(unsigned n)
{
    sink--;
    if (n == 0)
        return 0;
    return is_even(n - 1);
}

/* Only ever jumped to, at -O2. */
NOINLINE int last_of(const int *list, int n)
{
    sink = n;
    return list[n - 1];
}

NOINLINE int tail(const int *list, int n)
{
    sink = list[0];
    return last_of(list, n);
}

/* Called by the library. */
int compare(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Inlined at -O2. */
static inline __attribute__((always_inline)) int square(int n)
{
    int v = n * n;
    if (v > 50)
        sink = v;
    return v;
}

NOINLINE int squares(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += square(i);
    return sum;
}

/* Left by longjmp, some calls deep. */
NOINLINE void deep(int n)
{
    if (n == 0)
        longjmp(back, 1);
    deep(n - 1);
    sink = n;
}

NOINLINE int jumps(int n)
{
    volatile int times = 0;
    if (setjmp(back)) /* AGAIN 4 times */
        times++;
    if (times < n)
        deep(times);
    return times;
}

NOINLINE void on_signal(int sig)
{
    handled += sig == SIGUSR1;
    fib(3);
}

NOINLINE void raise_some(int n)
{
    for (int i = 0; i < n; i++)
        raise(SIGUSR1);
}

NOINLINE void *work(void *arg)
{
    int *n = arg;
    *n = fib(*n);
    return arg;
}

NOINLINE int threads(void)
{
    pthread_t t[3];
    int n[3] = {5, 6, 7}, sum = 0;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&t[i], NULL, work, &n[i]))
            abort();
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
        sum += n[i];
    }
    return sum;
}

int main(void)
{
    int list[] = {7, 3, 9, 1, 5, 8, 2};
    char text[64];
    const int n = sizeof list / sizeof *list;
    signal(SIGUSR1, on_signal);
    printf("%d\n", fib(8));
    printf("%d %d\n", is_even(10), is_odd(4));
    qsort(list, (size_t)n, sizeof *list, compare);
    printf("%d\n", tail(list, n));
    printf("%d\n", squares(12));
    printf("%d\n", jumps(4));
    raise_some(3);
    printf("%d\n", threads());
    memset(text, 'x', room);
    text[room] = 0;
    printf("%zu %d\n", strlen(text), (int)handled);
    return 0;
}
