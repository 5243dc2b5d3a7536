/* progress.c - say on a terminal how far long work is; elsewhere say nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/plain.h"

enum { PATIENCE_NS = 500000000 }; /* work that takes less is not worth a line */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *progress, const char *what)
{
    /* The window asks for it where a connection to another host has no terminal. */
    bool shown = isatty(STDERR_FILENO) || getenv("DRDEBUG_PROGRESS");
    *progress =
        (struct progress){.what = what, .begin_ns = now_ns(), .shown = -1, .terminal = shown};
}

void progress_show(void *arg, uint64_t done, uint64_t total)
{
    struct progress *p = arg;
    int percent = total ? (int)((double)done / (double)total * 100) : 100;

    if (!p->terminal || percent == p->shown || now_ns() - p->begin_ns < PATIENCE_NS)
        return;
    fputc('\r', stderr);
    plain_printf(stderr, "%s: %d %%", p->what, percent);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->shown = percent;
}

void progress_count(void *arg, uint64_t done, uint64_t total)
{
    struct progress *p = arg;
    int millions = (int)(done / 1000000);

    if (total) {
        progress_show(arg, done, total);
        return;
    }
    if (!p->terminal || millions == p->shown || now_ns() - p->begin_ns < PATIENCE_NS)
        return;
    fputc('\r', stderr);
    plain_printf(stderr, "%s: %d M instructions", p->what, millions);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->shown = millions;
}

void progress_end(struct progress *progress)
{
    if (progress->shown >= 0)
        fputs("\r\033[K", stderr);
}
