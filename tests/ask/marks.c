/* marks.c - a program with marks of all kinds; it says each one itself. SPDX-License-Identifier:
 * MIT
 *
 * Compiled as C and as C++. Each line of output is the words that a recording has for the mark
 * before it.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/drdebug.h"

#define LOOPS "in a loop"

static void say(const char *words)
{
    puts(words);
    fflush(stdout);
}

/* Copied wherever it is inlined, and each copy has its note. */
static inline int twice(int n)
{
    DRDEBUG_MARK("twice, 100% \"quoted\" {a|b} $0 %rip");
    say("mark: twice, 100% \"quoted\" {a|b} $0 %rip");
    return 2 * n;
}

static void *other(void *arg)
{
    DRDEBUG_REGION_BEGIN("other");
    say("region begin: other");
    *(int *)arg += twice(*(int *)arg);
    DRDEBUG_REGION_END("other");
    say("region end: other");
    return NULL;
}

/* A nop of the same form that is no mark. */
static void no_mark(void)
{
    __asm__ __volatile__(
        ".byte 0x0f, 0x1f, 0x05\n .long 0\n .byte 0x0f, 0x1f, 0x05\n .long 0x7ffff000");
}

int main(void)
{
    pthread_t thread;
    int n = 1;
    for (int i = 0; i < 3; i++) {
        DRDEBUG_MARK(LOOPS);
        say("mark: in a loop");
        n = twice(n);
    }
    pthread_create(&thread, NULL, other, &n);
    pthread_join(thread, NULL);
    no_mark();
    if (!fork()) { /* children are not recorded */
        DRDEBUG_MARK("child");
        _exit(0);
    }
    wait(NULL);
    DRDEBUG_MARK("the "
                 "end");
    say("mark: the end");
    return n == 24 ? 0 : 1;
}
