/* snapshot_reset.c - a counter is read and set to zero in two steps; what is counted in between is
 * in no report.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS = 3, ROUNDS = 3000 };

static struct {
    long requests, bytes;
    pthread_mutex_t lock;
} stats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    long requests, bytes;
    int reports;
} log_file;

static FILE *out;
static int done;

static void count(long bytes)
{
    pthread_mutex_lock(&stats.lock);
    stats.requests++;
    stats.bytes += bytes;
    pthread_mutex_unlock(&stats.lock);
}

static void write_report(long requests, long bytes)
{
    fprintf(out, "%ld requests, %ld bytes\n", requests, bytes);
    fflush(out);
    log_file.reports++;
}

static void report(void)
{
    pthread_mutex_lock(&stats.lock);
    long requests = stats.requests, bytes = stats.bytes;
#ifdef FIXED
    stats.requests = stats.bytes = 0;
    pthread_mutex_unlock(&stats.lock);
    write_report(requests, bytes);
#else
    pthread_mutex_unlock(&stats.lock);
    write_report(requests, bytes);
    pthread_mutex_lock(&stats.lock);
    stats.requests = stats.bytes = 0; /* ROOT CAUSE */
    pthread_mutex_unlock(&stats.lock);
#endif
    log_file.requests += requests;
    log_file.bytes += bytes;
}

static void *serve(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        count(100 + i % 7);
        if (i % 100 == 0)
            usleep(500);
    }
    return arg;
}

static void *watch(void *arg)
{
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        report();
        usleep(300);
    }
    report();
    return arg;
}

int main(void)
{
    pthread_t t[WORKERS], watcher;
    out = fopen("/dev/null", "w");
    pthread_create(&watcher, NULL, watch, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, serve, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    pthread_join(watcher, NULL);
    printf("%ld requests in %d reports\n", log_file.requests, log_file.reports);
    assert(log_file.requests == WORKERS * ROUNDS);
    return 0;
}
