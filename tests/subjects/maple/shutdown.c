/* shutdown.c - the end of a service throws its log away while a worker may still write to it.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

struct log {
    int lines;
    char text[8][16];
};
static struct log *journal;
static int quit, busy;
static pthread_mutex_t m = MUTEX;

static void note(const char *what)
{
    struct log *l = journal;
    CHECK(l);
    snprintf(l->text[l->lines++ % 8], sizeof l->text[0], "%s", what);
}

static void *work(void *arg)
{
    for (int i = 0; i < 3; i++) {
        LOCK(m);
        int stop = quit;
        busy = !stop;
        UNLOCK(m);
        if (stop)
            return arg;
        note("work");
        LOCK(m);
        busy = 0;
        UNLOCK(m);
    }
    return arg;
}

static void *shut_down(void *arg)
{
    int waits;
    LOCK(m);
    quit = 1;
    UNLOCK(m);
    do {
        LOCK(m);
        waits = FIX(busy) BUG(0);
        UNLOCK(m);
    } while (waits);
    struct log *l = journal;
    journal = NULL; /* ROOT CAUSE */
    free(l);
    return arg;
}

int main(void)
{
    journal = calloc(1, sizeof *journal);
    RUN(2, work, shut_down);
    return 0;
}
