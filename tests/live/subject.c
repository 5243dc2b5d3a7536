/* subject.c - threads that compute, sleep and talk, for a debugger that is with them.
 * SPDX-License-Identifier: MIT
 *
 * `knob` may be changed at any time, and `twice` called: the result says what was done.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile long knob = 1;
static volatile long sum[3];
static volatile sig_atomic_t alarms;
static volatile int over;
static int ends[2];

__attribute__((noinline)) long twice(long x)
{
    return 2 * x + knob;
}

static void on_alarm(int sig)
{
    (void)sig;
    alarms++;
}

static void *computes(void *arg)
{
    for (long i = 0; !over; i++)
        sum[0] += i % 7 == 0 ? twice(i) : knob;
    return arg;
}

static void *reads(void *arg)
{
    char c;
    while (read(ends[0], &c, 1) == 1 && c)
        sum[1] += c * knob;
    return arg;
}

__attribute__((noinline)) static void fails(volatile long *at)
{
    knob++;
    *at = knob;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "crash"))
        fails((volatile long *)8);
    if (argc > 2 && !strcmp(argv[1], "exec"))
        execv(argv[2], argv + 2);
    const int rounds = argc > 1 ? atoi(argv[1]) : 40;
    pthread_t thread[2];
    signal(SIGALRM, on_alarm);
    if (pipe(ends))
        return 1;
    pthread_create(&thread[0], NULL, computes, NULL);
    pthread_create(&thread[1], NULL, reads, NULL);
    for (int i = 0; i < rounds; i++) {
        char c = (char)('a' + i % 26);
        sum[2] += twice(i);
        if (write(ends[1], &c, 1) != 1)
            return 1;
        if (i % 8 == 0)
            raise(SIGALRM);
        usleep(200);
    }
    over = 1;
    if (write(ends[1], "", 1) != 1)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("%ld %ld %ld %d\n", sum[0], sum[1], sum[2], (int)alarms);
    return 0;
}
