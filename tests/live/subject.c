/* subject.c - threads that compute, sleep and talk, for a debugger that is with them.
 * SPDX-License-Identifier: MIT
 *
 * `knob` may be changed at any time, and `twice` called: the result says what was done.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
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

/* It waits for a line, then for one that does not come. */
static void waits_for_lines(void)
{
    static const char *const how[] = {"read", "select", "poll"};
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGINT, &action, NULL);
    for (int i = 0; i < 6; i++) {
        char line[64] = "";
        fd_set set;
        struct pollfd fd = {.fd = 0, .events = POLLIN};
        FD_ZERO(&set);
        FD_SET(0, &set);
        printf("%s\n", i % 2 ? "again" : how[i / 2]);
        fflush(stdout);
        long n = i < 2   ? read(0, line, sizeof line - 1)
                 : i < 4 ? select(1, &set, NULL, NULL, NULL)
                         : poll(&fd, 1, -1);
        if (n > 0 && i > 1)
            n = read(0, line, sizeof line - 1);
        printf("%s%s\n", n < 0 ? strerror(errno) : "got ", line);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "typed")) {
        waits_for_lines();
        return 0;
    }
    while (argc > 1 && !strcmp(argv[1], "naps"))
        usleep(100000);
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
