/* log_subject.c - output in pieces, threads that wait and spin, files that are not there.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static atomic_int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;

static void say(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        _exit(9);
}

static void on_signal(int sig)
{
    (void)sig;
    say(2, "signal\n");
}

static void *work(void *arg)
{
    prctl(PR_SET_NAME, arg);
    while (!atomic_load(&ready))
        continue;
    for (int i = 0; i < 200000; i++) {
        pthread_mutex_lock(&lock);
        sum += (unsigned)i;
        pthread_mutex_unlock(&lock);
    }
    say(1, (const char *)arg);
    say(1, " done\n");
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    char text[16];
    signal(SIGUSR1, on_signal);
    pthread_create(&t[0], NULL, work, "first");
    pthread_create(&t[1], NULL, work, "second");
    say(1, "one ");
    say(2, "error: ");
    say(1, "line\ntwo\n");
    raise(SIGUSR1);
    say(2, "late\n");
    open("/no/such/file", O_RDONLY);
    int fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);
    read(fd, text, sizeof text);
    close(fd);
    read(fd, text, sizeof text);
    atomic_store(&ready, 1);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    say(1, "no end");
    return 5;
}
