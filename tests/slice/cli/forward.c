/* forward.c - numbers that go through a pipe of functions and threads. SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int seed, other, result, last;
static char text[4096], copy[4096];

__attribute__((noinline)) static int scaled(int value)
{
    int factor = 3;        /* FACTOR */
    return value * factor; /* SCALED */
}

static void *work(void *arg)
{
    int local = seed + 1; /* READS */
    for (int i = 0; i < 4; i++)
        local += i;         /* LOOP */
    result = scaled(local); /* RESULT */
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    seed = argc + 5;  /* SEED */
    other = argc + 7; /* OTHER */
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    memset(text, argc, sizeof text);     /* TEXT */
    memcpy(copy, text, sizeof copy);     /* COPY */
    int unrelated = other * 2;           /* UNRELATED */
    last = *(volatile char *)&copy[100]; /* LAST */
    printf("%d %d\n", unrelated, last);
    if (result == 42) /* DECIDES */
        abort();      /* CRASH */
    return 0;
}
