/* rule.h - what the programs of this folder share.
 *
 * Each tries one rule of exact recording and prints what it saw: addresses, times, process numbers,
 * random bytes. No two runs print the same, so a replay that asks the machine again is found out.
 * What must hold whatever the values are goes through check(): FAIL in the output fails the test.
 */
#ifndef RULE_H
#define RULE_H
#include "subject.h"
#include <pthread.h>
#include <sys/random.h>

static UNUSED uint64_t digest(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325;
    while (bytes--)
        h = (h ^ *p++) * 0x100000001b3;
    return h;
}

static UNUSED uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Bytes that no other run has. */
static UNUSED void fill(void *to, size_t bytes)
{
    for (size_t n = 0; n < bytes;) {
        ssize_t got = getrandom((char *)to + n, bytes - n, 0);
        n += got > 0 ? (size_t)got : 0;
    }
}

/* A file of `bytes` random bytes in the working directory, open for reading and writing. */
static UNUSED int make_file(const char *name, size_t bytes)
{
    char *data = malloc(bytes + 1);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    fill(data, bytes);
    check(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
    free(data);
    return fd;
}

static UNUSED pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg) != 0)
        say("pthread_create FAIL\n");
    return t;
}
#endif
