/* crash.c - a bad pointer in a callee: SIGSEGV; with an argument, abort(), or the same in another
 * thread. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int value = 1;
int *pointer = &value;

__attribute__((noinline)) static int use(int *p)
{
    return *p; /* CRASH */
}

static void *work(void *arg)
{
    value = use(arg);
    return NULL;
}

static void crash_otherwise(const char *how)
{
    pthread_t thread;
    if (!strcmp(how, "thread") && pthread_create(&thread, NULL, work, pointer) == 0)
        pthread_join(thread, NULL);
    abort();
}

int main(int argc, char **argv)
{
    puts("before");
    fflush(stdout);
    value = use(pointer);
    pointer = NULL; /* ROOT CAUSE */
    if (argc > 1)
        crash_otherwise(argv[1]); /* ABORTS */
    return use(pointer);          /* USES NULL */
}
