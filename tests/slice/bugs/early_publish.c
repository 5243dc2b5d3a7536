/* early_publish.c - an object is put into the table that others read before its contents are there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plugin {
    const char *name;
    long (*run)(long);
};

static _Atomic(struct plugin *) plugins[4];
static _Atomic int closing;

static long twice(long n)
{
    return 2 * n;
}

static long thrice(long n)
{
    return 3 * n;
}

static void *resolve(const char *name)
{
    usleep(50000);
    return strcmp(name, "twice") == 0 ? (void *)twice : (void *)thrice;
}

static void load(int at, const char *name)
{
    struct plugin *p = calloc(1, sizeof *p);
    p->name = name;
#ifdef FIXED
    p->run = (long (*)(long))resolve(name);
    atomic_store(&plugins[at], p);
#else
    atomic_store(&plugins[at], p);          /* ROOT CAUSE */
    p->run = (long (*)(long))resolve(name); /* ROOT CAUSE */
#endif
}

static long call_all(long n)
{
    for (int i = 0; i < 4; i++) {
        struct plugin *p = atomic_load(&plugins[i]);
        if (p)
            n = p->run(n) % 1000;
    }
    return n;
}

static void *serve(void *arg)
{
    long *n = arg;
    while (!atomic_load(&closing)) {
        for (int i = 0; i < 30; i++)
            *n = call_all(*n + i);
        usleep(5000);
    }
    return NULL;
}

int main(void)
{
    long result = 1;
    pthread_t thread;
    load(0, "twice");
    pthread_create(&thread, NULL, serve, &result);
    usleep(15000);
    load(1, "thrice");
    atomic_store(&closing, 1);
    pthread_join(thread, NULL);
    printf("%ld\n", result);
    return 0;
}
